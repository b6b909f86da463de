"""The portable permission profile: its wire forms, its algebra, and nothing about this machine."""
