//! What travels between a Logkeep device and its server, without I/O
