"""The jobs behind the commands: values in, values out, nothing printed."""
