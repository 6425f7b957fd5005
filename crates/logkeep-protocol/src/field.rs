//! Field ids: FNV-1a of the field's name (schema-binary.md 1.6).

pub(crate) const CHALLENGE: u32 = 0x00e7903e;
pub(crate) const COMPACTION: u32 = 0x89df79c8;
pub(crate) const REMOTE_ID: u32 = 0xaef0723e;
pub(crate) const FIRST_SEQUENCE: u32 = 0xb5e4b3cc;
pub(crate) const ALGORITHM: u32 = 0x1c45696a;
pub(crate) const SIGNATURE: u32 = 0x5fab696d;
pub(crate) const PUBLIC_KEY: u32 = 0xf40a06ff;
pub(crate) const SIGNING_PUBLIC_KEY: u32 = 0xf72f179c;
pub(crate) const DATA: u32 = 0xd872e2a5;
pub(crate) const ID: u32 = 0x37386ae0;
pub(crate) const TAG: u32 = 0x7289ae0e;
pub(crate) const PART: u32 = 0x7c783614;
pub(crate) const STORE_ID: u32 = 0x4ca38853;
pub(crate) const START_SEQUENCE: u32 = 0x76db9f86;
pub(crate) const HEAD: u32 = 0x32694bc3;
pub(crate) const WANTED: u32 = 0xcfe3bdee;
pub(crate) const BATCHES: u32 = 0xc6641b6b;
pub(crate) const MESSAGE: u32 = 0x24f208e4;
pub(crate) const REQUEST_TAG: u32 = 0xa551b92a;
pub(crate) const CODE: u32 = 0xf9316cf4;
pub(crate) const SEQUENCE: u32 = 0x3c43ef68;
pub(crate) const ENTRY_ID: u32 = 0xa6e5987e;
pub(crate) const IV: u32 = 0x49388736;
pub(crate) const ENCRYPTED_BATCH: u32 = 0x603e9fc5;
pub(crate) const ENTRY_IDS: u32 = 0xc86e5c77;
