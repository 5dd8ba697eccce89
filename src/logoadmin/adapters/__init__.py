"""The plugs: each module is named ``<technology>_<port>`` after the socket in ``ports`` that it fits."""
