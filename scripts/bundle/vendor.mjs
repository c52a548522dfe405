import { dirname } from 'node:path';
import { build } from 'esbuild';
import { checkout } from '../checkout.mjs';
import { WRAPPER } from './wrapper.mjs';

/**
 * Packages that are big and seldom needed: each is bundled once into dist/vendor/<name>.cjs and
 * required from there by every tool, lazily when the module that imports it is loaded lazily.
 */
const vendored = new Set(['yaml', 'undici', '@clack/prompts']);

/**
 * What of a package is bundled, where all of it would be slow to load: of undici one request over
 * HTTP/1, which is all that libs/common/src/http.ts uses. Paths are those inside the package.
 */
const partOf = new Map([
  [
    'undici',
    `// Compiling the WASM parser with the baseline compiler halves the time of one request.
require('node:v8').setFlagsFromString('--liftoff-only');
const request = require('./lib/api/api-request.js');
exports.Client = require('./lib/dispatcher/client.js');
// Loaded when there is a proxy. It is asked by CONNECT, which undici's own index adds as here.
exports.EnvHttpProxyAgent = function (options) {
  require('./lib/dispatcher/dispatcher.js').prototype.connect = require('./lib/api/api-connect.js');
  return new (require('./lib/dispatcher/env-http-proxy-agent.js'))(options);
};
exports.request = (address, { dispatcher, ...options }) => {
  const { origin, pathname, search } = new URL(address);
  return request.call(dispatcher, { ...options, origin, path: pathname + search });
};
`,
  ],
]);

/**
 * What the vendored packages ask for and one request never uses, and what stands in its place.
 * Loading it would take longer than the request: node:http and node:assert alone cost 4 ms.
 */
const unused = [
  // HTTP/2 is never spoken: its module is only asked for the names of its constants.
  [/^node:http2$/, 'module.exports = { constants: {} };'],
  [/\/client-h2\.js$/, "module.exports = () => { throw new Error('HTTP/2 is not bundled'); };"],
  // undici asks for Node's limit on headers, 16 KiB, and knows a body that is a server's request.
  [
    /^node:http$/,
    'module.exports = { maxHeaderSize: 16384, IncomingMessage: class IncomingMessage {} };',
  ],
  [
    /^node:assert$/,
    "module.exports = (truth, message) => { if (!truth) throw message instanceof Error ? message : new Error(`undici: ${message ?? 'assertion failed'}`); };",
  ],
  // Bodies are texts: forms, blobs and web streams are not sent.
  [
    /\/web\/fetch\/body\.js$/,
    "exports.extractBody = () => { throw new Error('only a text can be sent'); };",
  ],
];

const withoutUnused = {
  name: 'without-unused',
  setup(builder) {
    for (const [filter, contents] of unused) {
      builder.onResolve({ filter }, ({ path }) => ({ path, namespace: filter.source }));
      builder.onLoad({ filter: /.*/, namespace: filter.source }, () => ({ contents }));
    }
  },
};

/** The name that stands for a vendored package in a bundle until its place is known. */
const marker = 'vendored:';

/** The output file of a vendored package, relative to dist. */
function vendorFile(name) {
  return `vendor/${name.replace('@', '').replace('/', '-')}.cjs`;
}

/**
 * The esbuild plugin that leaves vendored packages out and notes in `found` (name -> file of the
 * package) which of them are used.
 */
export function leaveOutVendored(found) {
  return {
    name: 'leave-out-vendored',
    setup(builder) {
      builder.onResolve({ filter: /^(yaml|undici|@clack\/)/ }, async (question) => {
        if (question.pluginData === 'vendored' || !vendored.has(question.path)) return undefined;
        const answer = await builder.resolve(question.path, {
          kind: 'require-call',
          resolveDir: question.resolveDir,
          pluginData: 'vendored',
        });
        if (answer.errors.length > 0) return answer;
        const before = found.get(question.path);
        if (before !== undefined && before !== answer.path) {
          return { errors: [{ text: `${question.path} comes in two versions: one must do` }] };
        }
        found.set(question.path, answer.path);
        return { path: marker + question.path, external: true, sideEffects: false };
      });
    },
  };
}

/** The output file that an import path of `leaveOutVendored` stands for, else undefined. */
export function vendorFileOf(path) {
  return path.startsWith(marker) ? vendorFile(path.slice(marker.length)) : undefined;
}

/**
 * Bundles the packages that were found to be used; resolves [file relative to dist, content] pairs.
 * Notes in `sources` which files they are made of.
 */
export async function bundleVendored(found, sources) {
  const files = await Promise.all(
    [...found].sort().map(async ([name, entry]) => {
      const part = partOf.get(name);
      const from = part
        ? { stdin: { contents: part, resolveDir: dirname(entry), sourcefile: `${name}.cjs` } }
        : { entryPoints: [entry] };
      const result = await build({
        absWorkingDir: checkout,
        ...from,
        plugins: [withoutUnused],
        bundle: true,
        // Half as much text to be read at every start.
        minify: true,
        write: false,
        format: 'cjs',
        platform: 'node',
        target: 'node20',
        banner: { js: WRAPPER[0] },
        footer: { js: WRAPPER[1] },
        legalComments: 'inline',
        metafile: true,
        logLevel: 'warning',
      });
      sources.push(...Object.keys(result.metafile.inputs));
      return [vendorFile(name), result.outputFiles[0].contents];
    }),
  );
  return files;
}
