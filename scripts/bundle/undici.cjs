// With NODE_DEBUG=undici it would print addresses, and with them a bot's token.
require('node:util').debuglog = () => Object.assign(() => {}, { enabled: false });
// Its parser is WebAssembly: compiled by the baseline compiler alone, one request takes half the time.
require('node:v8').setFlagsFromString('--liftoff-only');
module.exports = require('undici');
