/** Stacks on Node. */
import type { Clue, Stack } from './stack.ts';

const CONFIG = /^next\.config\.(?:js|mjs|cjs|ts)$/;
const BUILD = ['{install}', '{run} build'];
/** A script that is for development only. */
const WATCHES =
  /\b(?:vite|webpack(?:-dev-server)?|parcel|nodemon|ts-node-dev|react-scripts|vue-cli-service|ng serve|gatsby|docusaurus|next dev|nuxt dev|astro|eleventy|expo|electron|concurrently|tsx watch)\b|--watch\b/;
const LISTENS = /\.listen\s{0,3}\(|createServer\(|\bserve\(/;
const FILE = /^(?<file>(?:src\/)?(?:server|app|index|main)\.[cm]?js)$/;

/** A folder inside. */
const OUT = /(?:\.\/)?(?<out>(?:[\w-][\w.-]{0,40}\/){0,4}[\w-][\w.-]{0,40})\/?/;

const site = (name: string, dep: string, output: string, more: readonly Clue[] = []): Stack => ({
  name,
  language: 'node',
  when: [{ dep }, ...more],
  build: BUILD,
  output,
});

/** In the order in which they are tried. */
export const NODE: readonly Stack[] = [
  site('Next.js, exported', 'next', 'out', [
    { path: CONFIG, text: /output\s{0,3}:\s{0,3}['"]export/ },
  ]),
  {
    name: 'Next.js, standalone',
    language: 'node',
    when: [{ dep: 'next' }, { path: CONFIG, text: /output\s{0,3}:\s{0,3}['"]standalone/ }],
    build: [
      ...BUILD,
      'cp -r .next/static .next/standalone/.next/',
      { run: 'cp -r public .next/standalone/', when: [{ path: /^public\// }] },
    ],
    start: 'HOSTNAME=127.0.0.1 node .next/standalone/server.js',
  },
  {
    name: 'Next.js',
    language: 'node',
    when: [{ dep: 'next' }],
    build: BUILD,
    start: '{script:start}',
  },
  site('Nuxt, generated', 'nuxt', '.output/public', [{ script: 'build', text: /nuxt generate/ }]),
  {
    name: 'Nuxt',
    language: 'node',
    when: [{ dep: 'nuxt' }],
    build: BUILD,
    start: 'HOST=127.0.0.1 node .output/server/index.mjs',
  },
  {
    name: 'SvelteKit',
    language: 'node',
    when: [{ dep: '@sveltejs/adapter-node' }],
    build: BUILD,
    start: 'HOST=127.0.0.1 node build',
  },
  site('SvelteKit, static', '@sveltejs/adapter-static', 'build'),
  {
    name: 'SvelteKit',
    language: 'node',
    when: [{ dep: '@sveltejs/kit' }],
    missing: 'SvelteKit builds no server with this adapter: install @sveltejs/adapter-node',
  },
  {
    name: 'Remix or React Router',
    language: 'node',
    when: [{ dep: '@remix-run/serve @react-router/serve' }],
    build: BUILD,
    start: 'HOST=127.0.0.1 {script:start}',
  },
  {
    name: 'Astro',
    language: 'node',
    when: [{ dep: '@astrojs/node' }],
    build: BUILD,
    start: 'HOST=127.0.0.1 node ./dist/server/entry.mjs',
    port: 4321,
  },
  site('Astro, static', 'astro', 'dist'),
  {
    name: 'SolidStart or TanStack Start',
    language: 'node',
    when: [{ dep: 'vinxi @tanstack/react-start' }],
    build: BUILD,
    start: 'HOST=127.0.0.1 node .output/server/index.mjs',
  },
  {
    name: 'NestJS',
    language: 'node',
    when: [{ dep: '@nestjs/core' }],
    build: BUILD,
    start: '{script:start:prod}',
  },
  {
    name: 'AdonisJS',
    language: 'node',
    when: [{ dep: '@adonisjs/core' }],
    build: BUILD,
    start: 'HOST=127.0.0.1 NODE_ENV=production node build/bin/server.js',
    migrate: 'node build/ace.js migration:run --force',
  },
  {
    name: 'Strapi',
    language: 'node',
    when: [{ dep: '@strapi/strapi' }],
    build: BUILD,
    start: 'NODE_ENV=production {script:start}',
    port: 1337,
    health: '/_health',
    shared: [{ path: 'public/uploads/', why: 'uploads' }],
  },
  site('Gatsby', 'gatsby', 'public'),
  site('Docusaurus', '@docusaurus/core', 'build'),
  {
    name: 'VitePress',
    language: 'node',
    when: [
      { dep: 'vitepress' },
      { script: 'docs:build', text: /vitepress build (?<docs>[\w-]{1,40})/ },
    ],
    build: ['{install}', '{run} docs:build'],
    output: '{docs}/.vitepress/dist',
  },
  site('Eleventy', '@11ty/eleventy', '_site'),
  site('Create React App', 'react-scripts', 'build'),
  site('Vue CLI', '@vue/cli-service', 'dist'),
  {
    name: 'Angular',
    language: 'node',
    when: [
      { dep: '@angular/core' },
      { path: 'package.json', text: /"name"\s{0,3}:\s{0,3}"(?<name>[\w-]{1,80})"/ },
    ],
    build: BUILD,
    output: 'dist/{name}/browser',
  },
  {
    name: 'Node server',
    language: 'node',
    when: [{ script: 'start', text: /^nodemon (?<file>[\w./-]{1,100}\.[cm]?js)$/ }],
    build: ['{install}', { run: '{run} build', when: [{ script: 'build' }] }],
    start: 'NODE_ENV=production node {file}',
  },
  {
    name: 'Node server',
    language: 'node',
    when: [{ script: 'start' }, { script: 'start', text: WATCHES, not: true }],
    build: ['{install}', { run: '{run} build', when: [{ script: 'build' }] }],
    start: 'NODE_ENV=production {script:start}',
  },
  site('Vite', 'vite', '{out}', [
    { script: 'build', text: new RegExp(`vite build\\b.{0,80}--outDir[ =]${OUT.source}`) },
  ]),
  site('Vite', 'vite', '{out}', [
    { script: 'build' },
    {
      path: /^vite\.config\.[cm]?[jt]s$/,
      text: new RegExp(`\\boutDir(?<!//[^\\n]{0,100})\\s{0,3}:\\s{0,3}["'\`]${OUT.source}["'\`]`),
    },
  ]),
  site('Vite', 'vite', 'dist', [{ script: 'build' }]),
  site('Parcel', 'parcel', 'dist', [{ script: 'build' }]),
  {
    name: 'Bun server',
    language: 'node',
    when: [
      { path: /^bun\.lockb?$/ },
      {
        path: /^(?<file>(?:src\/)?(?:index|server|app)\.tsx?)$/,
        text: /Bun\.serve|export default|\.listen\(/,
      },
    ],
    build: ['{install}', { run: '{run} build', when: [{ script: 'build' }] }],
    start: 'NODE_ENV=production bun run {file}',
  },
  {
    name: 'Node server',
    language: 'node',
    when: [{ path: 'package.json' }, { path: FILE, text: LISTENS }],
    build: ['{install}', { run: '{run} build', when: [{ script: 'build' }] }],
    start: 'NODE_ENV=production node {file}',
  },
  {
    name: 'Node server',
    language: 'none',
    when: [
      { path: 'package.json', not: true },
      { path: FILE, text: LISTENS },
    ],
    start: 'NODE_ENV=production node {file}',
    port: 3000,
  },
  {
    name: 'Node',
    language: 'node',
    when: [{ path: 'package.json' }],
    missing: 'package.json has no script start that runs a server, and no known site generator',
  },
];
