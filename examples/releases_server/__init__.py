"""App Store releases as an MCP server: what App Store Connect has, and what fastlane drafts would change."""
