//! What the fuzz targets do with their input; ordinary tests replay the corpus through the same functions.

pub mod codec;
