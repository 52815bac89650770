"""Planning registers behind one interface: DEF Atrium, Idox Public Access, and a folder of files."""
