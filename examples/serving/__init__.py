"""What the example servers share: a command line, a settings file, a doctor, and how a server is put together."""
