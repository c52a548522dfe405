/*
 * undici as the executables load it: the parts that one request over HTTP/1 needs, from their own
 * files. All of it, with fetch, WebSocket, caches and mocks, takes twice as long to load.
 */
// With NODE_DEBUG=undici it would print addresses, and with them a bot's token.
require('node:util').debuglog = () => Object.assign(() => {}, { enabled: false });
// The parser is WebAssembly: the baseline compiler alone halves the time of one request.
require('node:v8').setFlagsFromString('--liftoff-only');
const Dispatcher = require('undici/lib/dispatcher/dispatcher.js');
Dispatcher.prototype.connect = require('undici/lib/api/api-connect.js');
Dispatcher.prototype.request = require('undici/lib/api/api-request.js');

exports.Client = require('undici/lib/dispatcher/client.js');

/** Loaded only where there is a proxy. */
exports.EnvHttpProxyAgent = function EnvHttpProxyAgent(options) {
  return new (require('undici/lib/dispatcher/env-http-proxy-agent.js'))(options);
};

exports.request = (url, { dispatcher, ...options }) => {
  const { origin, pathname, search } = new URL(url);
  return dispatcher.request({ ...options, origin, path: `${pathname}${search}` });
};
