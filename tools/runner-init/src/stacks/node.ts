/** Stacks on Node. */
import { rowsOf, type Stack } from './stack.ts';

const CONFIG = /^next\.config\.(?:js|mjs|cjs|ts)$/;
const BUILD = ['{install}', '{run} build'];
const IF_BUILT = ['{install}', { run: '{run} build', when: [{ script: 'build' }] }];
/** A script that is for development only. */
const WATCHES =
  /\b(?:vite|webpack(?:-dev-server)?|parcel|nodemon|ts-node-dev|react-scripts|vue-cli-service|ng serve|gatsby|docusaurus|next dev|nuxt dev|astro|eleventy|expo|electron|concurrently|tsx watch)\b|--watch\b/;
const LISTENS = /\.listen\s{0,3}\(|createServer\(|\bserve\(/;
const FILE = /^(?<file>(?:src\/)?(?:server|app|index|main)\.[cm]?js)$/;

/** A folder inside. */
const OUT = /(?:\.\/)?(?<out>(?:[\w-][\w.-]{0,40}\/){0,4}[\w-][\w.-]{0,40})\/?/;

const { server, site, missing } = rowsOf('node', { build: BUILD });
const plain = rowsOf('node', { build: IF_BUILT }).server;

/** In the order in which they are tried. */
export const NODE: readonly Stack[] = [
  site(
    'Next.js, exported',
    ['next', { path: CONFIG, text: /output\s{0,3}:\s{0,3}['"]export/ }],
    'out',
  ),
  server(
    'Next.js, standalone',
    ['next', { path: CONFIG, text: /output\s{0,3}:\s{0,3}['"]standalone/ }],
    'HOSTNAME=127.0.0.1 node .next/standalone/server.js',
    {
      build: [
        ...BUILD,
        'cp -r .next/static .next/standalone/.next/',
        { run: 'cp -r public .next/standalone/', when: [{ path: /^public\// }] },
      ],
    },
  ),
  server('Next.js', 'next', '{script:start}'),
  site('Nuxt, generated', ['nuxt', { script: 'build', text: /nuxt generate/ }], '.output/public'),
  server('Nuxt', 'nuxt', 'HOST=127.0.0.1 node .output/server/index.mjs'),
  server('SvelteKit', '@sveltejs/adapter-node', 'HOST=127.0.0.1 node build'),
  site('SvelteKit, static', '@sveltejs/adapter-static', 'build'),
  missing(
    'SvelteKit',
    '@sveltejs/kit',
    'SvelteKit builds no server with this adapter: install @sveltejs/adapter-node',
  ),
  server(
    'Remix or React Router',
    '@remix-run/serve @react-router/serve',
    'HOST=127.0.0.1 {script:start}',
  ),
  server('Astro', '@astrojs/node', 'HOST=127.0.0.1 node ./dist/server/entry.mjs', { port: 4321 }),
  site('Astro, static', 'astro', 'dist'),
  server(
    'SolidStart or TanStack Start',
    'vinxi @tanstack/react-start',
    'HOST=127.0.0.1 node .output/server/index.mjs',
  ),
  server('NestJS', '@nestjs/core', '{script:start:prod}'),
  server(
    'AdonisJS',
    '@adonisjs/core',
    'HOST=127.0.0.1 NODE_ENV=production node build/bin/server.js',
    { migrate: 'node build/ace.js migration:run --force' },
  ),
  server('Strapi', '@strapi/strapi', 'NODE_ENV=production {script:start}', {
    port: 1337,
    health: '/_health',
    shared: [{ path: 'public/uploads/', why: 'uploads' }],
  }),
  site('Gatsby', 'gatsby', 'public'),
  site('Docusaurus', '@docusaurus/core', 'build'),
  site(
    'VitePress',
    ['vitepress', { script: 'docs:build', text: /vitepress build (?<docs>[\w-]{1,40})/ }],
    '{docs}/.vitepress/dist',
    { build: ['{install}', '{run} docs:build'] },
  ),
  site('Eleventy', '@11ty/eleventy', '_site'),
  site('Create React App', 'react-scripts', 'build'),
  site('Vue CLI', '@vue/cli-service', 'dist'),
  server(
    'Angular, rendered on the server',
    [
      '@angular/ssr',
      {
        path: 'package.json',
        text: /"serve:ssr[^"]{0,80}"\s{0,3}:\s{0,3}"(?<serve>node [\w./-]{1,200})"/,
      },
    ],
    '{serve}',
    { port: 4000 },
  ),
  site(
    'Angular',
    [
      '@angular/core',
      { path: 'package.json', text: /"name"\s{0,3}:\s{0,3}"(?<name>[\w-]{1,80})"/ },
    ],
    'dist/{name}/browser',
  ),
  plain(
    'Node server',
    { script: 'start', text: /^nodemon (?<file>[\w./-]{1,100}\.[cm]?js)$/ },
    'NODE_ENV=production node {file}',
  ),
  plain(
    'Node server',
    [{ script: 'start' }, { script: 'start', text: WATCHES, not: true }],
    'NODE_ENV=production {script:start}',
  ),
  site(
    'Vite',
    [
      'vite',
      { script: 'build', text: new RegExp(`vite build\\b.{0,80}--outDir[ =]${OUT.source}`) },
    ],
    '{out}',
  ),
  site(
    'Vite',
    [
      'vite',
      { script: 'build' },
      {
        path: /^vite\.config\.[cm]?[jt]s$/,
        text: new RegExp(`\\boutDir(?<!//[^\\n]{0,100})\\s{0,3}:\\s{0,3}["'\`]${OUT.source}["'\`]`),
      },
    ],
    '{out}',
  ),
  site('Vite', ['vite', { script: 'build' }], 'dist'),
  site('Parcel', ['parcel', { script: 'build' }], 'dist'),
  plain(
    'Bun server',
    [
      { path: /^bun\.lockb?$/ },
      {
        path: /^(?<file>(?:src\/)?(?:index|server|app)\.tsx?)$/,
        text: /Bun\.serve|export default|\.listen\(/,
      },
    ],
    'NODE_ENV=production bun run {file}',
  ),
  plain(
    'Node server',
    [{ path: 'package.json' }, { path: FILE, text: LISTENS }],
    'NODE_ENV=production node {file}',
  ),
  rowsOf('none').server(
    'Node server',
    [
      { path: 'package.json', not: true },
      { path: FILE, text: LISTENS },
    ],
    'NODE_ENV=production node {file}',
    { port: 3000 },
  ),
  missing(
    'Node',
    { path: 'package.json' },
    'package.json has no script start that runs a server, and no known site generator',
  ),
];
