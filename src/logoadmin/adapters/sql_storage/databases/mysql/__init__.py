"""MariaDB and MySQL: a server, or a cluster of them."""
