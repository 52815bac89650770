"""A local planning portal and sample applications, all fictional and all made from code."""
