"""stub"""
def find_problems(environment, templates, layouts):
    return []
