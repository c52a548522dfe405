/**
 * Small repositories as the stacks' own starters write them, with the truth beside each, by hand: the
 * build, the start (`none` if a web server serves a folder, `compose`), the health path, shared paths; or
 * `missing`, a part of the sentence that names what is missing.
 */

/** The files of a repository by path; an object is a package.json or another JSON file. */
export type FixtureFiles = Readonly<Record<string, string | object>>;

/** What is right for a repository. */
export interface Truth {
  readonly build?: readonly string[];
  readonly start?: string;
  readonly health?: string;
  readonly shared?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly missing?: string;
  /** It can be built and started with Node, Python or nothing alone, without a network. */
  readonly proven?: true;
}

/** A repository and what is right for it. */
export interface Fixture extends Truth {
  readonly name: string;
  readonly stack: string;
  readonly files: FixtureFiles;
}

const all: Fixture[] = [];
const add = (stack: string, name: string, files: FixtureFiles, truth: Truth) =>
  void all.push({ stack, name, files, ...truth });

const NPM = { 'package-lock.json': { lockfileVersion: 3 } };
const PNPM = { 'pnpm-lock.yaml': "lockfileVersion: '9.0'\n" };
const YARN1 = { 'yarn.lock': '# yarn lockfile v1\n' };
const YARN = { 'yarn.lock': '__metadata:\n  version: 8\n' };
const BUN = { 'bun.lock': '{\n  "lockfileVersion": 1,\n}\n' };
const MANAGERS = [
  ['npm', NPM, 'npm ci', 'npm run'],
  ['pnpm', PNPM, 'pnpm install --frozen-lockfile', 'pnpm run'],
  ['yarn1', YARN1, 'yarn install --frozen-lockfile', 'yarn run'],
  ['yarn', YARN, 'yarn install --immutable', 'yarn run'],
  ['bun', BUN, 'bun install --frozen-lockfile', 'bun run'],
] as const;
const [, , CI, RUN] = MANAGERS[0];
const json = (scripts: object, dependencies: object = {}, more: object = {}) => ({
  'package.json': { name: 'app', version: '0.1.0', private: true, scripts, dependencies, ...more },
});

// Next.js, as create-next-app writes it
const NEXT = { dev: 'next dev', build: 'next build', start: 'next start', lint: 'eslint' };
const next = { next: '16.0.0', react: '19.2.0', 'react-dom': '19.2.0' };
const CONFIG = (text: string) =>
  `import type { NextConfig } from "next";\n\nconst nextConfig: NextConfig = {\n  ${text}\n};\n\nexport default nextConfig;\n`;
for (const [name, lock, install, run] of MANAGERS)
  add('Next.js', `next-${name}`, { ...json(NEXT, next), ...lock, 'next.config.ts': CONFIG('/* config options here */'), 'app/page.tsx': 'export default function Home() {}\n' }, { build: [install, `${run} build`], start: `${run} start`, health: '/' });
add('Next.js', 'next-export', { ...json(NEXT, next), ...NPM, 'next.config.ts': CONFIG("output: 'export',") }, { build: [CI, 'npm run build'], start: 'none' });
add('Next.js', 'next-standalone', { ...json(NEXT, next), ...NPM, 'next.config.ts': CONFIG('output: "standalone",'), 'public/next.svg': '<svg/>' }, { build: [CI, 'npm run build', 'cp -r .next/static .next/standalone/.next/', 'cp -r public .next/standalone/'], start: 'HOSTNAME=127.0.0.1 node .next/standalone/server.js', health: '/' });
add('Next.js', 'next-health', { ...json(NEXT, next), ...PNPM, 'app/api/health/route.ts': 'export function GET() { return Response.json({ ok: true }); }\n', '.env.example': 'DATABASE_URL=\n' }, { build: ['pnpm install --frozen-lockfile', 'pnpm run build'], start: 'pnpm run start', health: '/api/health', shared: ['.env'] });

// Nuxt, as `npm create nuxt` writes it
const NUXT = { build: 'nuxt build', dev: 'nuxt dev', generate: 'nuxt generate', preview: 'nuxt preview', postinstall: 'nuxt prepare' };
const nuxt = { nuxt: '^4.2.0', vue: '^3.5.0', 'vue-router': '^4.6.0' };
for (const [name, lock, install, run] of MANAGERS.slice(0, 2))
  add('Nuxt', `nuxt-${name}`, { ...json(NUXT, nuxt), ...lock, 'nuxt.config.ts': 'export default defineNuxtConfig({})\n' }, { build: [install, `${run} build`], start: 'HOST=127.0.0.1 node .output/server/index.mjs', health: '/' });
add('Nuxt', 'nuxt-generate', { ...json({ ...NUXT, build: 'nuxt generate' }, nuxt), ...NPM }, { build: [CI, 'npm run build'], start: 'none' });
add('Nuxt', 'nuxt-health', { ...json(NUXT, nuxt), ...NPM, 'server/api/health.get.ts': 'export default defineEventHandler(() => ({}))\n' }, { build: [CI, 'npm run build'], start: 'HOST=127.0.0.1 node .output/server/index.mjs', health: '/api/health' });

// SvelteKit, as `npx sv create` writes it
const KIT = { dev: 'vite dev', build: 'vite build', preview: 'vite preview', prepare: "svelte-kit sync || echo ''" };
const kit = (adapter: string) => json(KIT, {}, { type: 'module', devDependencies: { [`@sveltejs/adapter-${adapter}`]: '^5', '@sveltejs/kit': '^2', svelte: '^5', vite: '^7' } });
add('SvelteKit', 'kit-node', { ...kit('node'), ...NPM, 'svelte.config.js': "import adapter from '@sveltejs/adapter-node';\n" }, { build: [CI, 'npm run build'], start: 'HOST=127.0.0.1 node build', health: '/' });
add('SvelteKit', 'kit-node-route', { ...kit('node'), ...PNPM, 'src/routes/healthz/+server.ts': 'export const GET = () => new Response();\n' }, { build: ['pnpm install --frozen-lockfile', 'pnpm run build'], start: 'HOST=127.0.0.1 node build', health: '/healthz' });
add('SvelteKit', 'kit-static', { ...kit('static'), ...NPM }, { build: [CI, 'npm run build'], start: 'none' });
add('SvelteKit', 'kit-auto', { ...kit('auto'), ...NPM }, { missing: 'install @sveltejs/adapter-node' });

// Remix and React Router, as create-react-router writes it
const RR = { build: 'react-router build', dev: 'react-router dev', start: 'react-router-serve ./build/server/index.js', typecheck: 'react-router typegen && tsc' };
for (const [name, lock, install, run] of MANAGERS.slice(0, 3))
  add('Remix', `react-router-${name}`, { ...json(RR, { '@react-router/node': '7', '@react-router/serve': '7', 'react-router': '7' }, { devDependencies: { vite: '^7' } }), ...lock }, { build: [install, `${run} build`], start: `HOST=127.0.0.1 ${run} start`, health: '/' });
add('Remix', 'remix', { ...json({ build: 'remix vite:build', dev: 'remix vite:dev', start: 'remix-serve ./build/server/index.js' }, { '@remix-run/node': '2', '@remix-run/serve': '2' }), ...NPM }, { build: [CI, 'npm run build'], start: 'HOST=127.0.0.1 npm run start', health: '/' });

// Astro, as create-astro writes it
const ASTRO = { dev: 'astro dev', build: 'astro build', preview: 'astro preview', astro: 'astro' };
for (const [name, lock, install, run] of MANAGERS.slice(0, 2))
  add('Astro', `astro-static-${name}`, { ...json(ASTRO, { astro: '^5.15.0' }), ...lock, 'astro.config.mjs': 'export default defineConfig({});\n', 'public/favicon.svg': '<svg/>' }, { build: [install, `${run} build`], start: 'none' });
add('Astro', 'astro-node', { ...json(ASTRO, { astro: '^5', '@astrojs/node': '^9' }), ...NPM, 'astro.config.mjs': "adapter: node({ mode: 'standalone' })\n" }, { build: [CI, 'npm run build'], start: 'HOST=127.0.0.1 node ./dist/server/entry.mjs', health: '/' });

// Servers on Node
const server = (route = '/') => `const http = require('node:http');\nhttp.createServer((req, res) => {\n  if (req.url !== '${route}') res.statusCode = 404;\n  res.end('ok');\n}).listen(process.env.PORT || 3000);\n`;
const EXPRESS = "const express = require('express')\nconst app = express()\nconst port = process.env.PORT || 3000\napp.get('/', (req, res) => res.send('Hello World!'))\napp.listen(port)\n";
add('Node server', 'plain-start', { ...json({ start: 'node server.js' }), ...NPM, 'server.js': server('/health') }, { build: [CI], start: 'NODE_ENV=production node server.js', health: '/health', proven: true });
add('Node server', 'plain-main', { 'package.json': { name: 'app', main: 'index.js', scripts: { test: 'echo "Error: no test specified" && exit 1' } }, 'index.js': server() }, { build: ['npm install'], start: 'NODE_ENV=production node index.js', health: '/', proven: true });
add('Node server', 'plain-no-package', { 'server.js': server('/up') }, { build: [], start: 'NODE_ENV=production node server.js', health: '/up', proven: true });
add('Node server', 'express-generator', { ...json({ start: 'node ./bin/www' }, { express: '~4.16.1', debug: '~2.6.9' }), ...NPM, 'app.js': "var express = require('express');\nmodule.exports = app;\n", 'bin/www': '#!/usr/bin/env node\n' }, { build: [CI], start: 'NODE_ENV=production node ./bin/www', health: '/' });
for (const [name, lock, install, run] of MANAGERS)
  add('Node server', `express-ts-${name}`, { ...json({ dev: 'tsx watch src/index.ts', build: 'tsc', start: 'node dist/index.js' }, { express: '^5.1.0' }, { devDependencies: { typescript: '^5' } }), ...lock, 'src/index.ts': "app.get('/healthz', (_, res) => res.send('ok'));\napp.listen(port);\n" }, { build: [install, `${run} build`], start: 'NODE_ENV=production node dist/index.js', health: '/healthz' });
add('Node server', 'express-nodemon', { ...json({ start: 'nodemon server.js' }, { express: '^4', nodemon: '^3' }), ...NPM, 'server.js': EXPRESS }, { build: [CI], start: 'NODE_ENV=production node server.js', health: '/' });
add('Node server', 'express-no-start', { ...json({ test: 'jest' }, { express: '^4' }), ...NPM, 'app.js': EXPRESS }, { build: [CI], start: 'NODE_ENV=production node app.js', health: '/' });
add('Node server', 'express-uploads', { ...json({ start: 'node server.js' }, { express: '^4', multer: '^2', dotenv: '^16' }), ...NPM, 'server.js': `${EXPRESS}const upload = multer({ dest: 'uploads/' })\n`, '.env.example': 'SECRET=\n' }, { build: [CI], start: 'NODE_ENV=production node server.js', health: '/', shared: ['.env', 'uploads/'] });
add('Node server', 'fastify-cli', { ...json({ test: 'node --test test/**/*.test.js', start: 'fastify start -l info app.js', dev: 'fastify start -w -l info -P app.js' }, { fastify: '^5', 'fastify-cli': '^7' }), ...NPM, 'app.js': 'module.exports = async function (fastify, opts) {}\n' }, { build: [CI], start: 'NODE_ENV=production npm run start', health: '/' });
add('Node server', 'koa-sqlite', { ...json({ start: 'node src/server.js' }, { koa: '^3', 'better-sqlite3': '^12' }), ...YARN1, 'src/server.js': "const db = new Database('data/app.db')\napp.listen(3000)\n" }, { build: ['yarn install --frozen-lockfile'], start: 'NODE_ENV=production node src/server.js', health: '/', shared: ['data/'] });
add('Node server', 'hono-node', { ...json({ dev: 'tsx watch src/index.ts', build: 'tsc', start: 'node dist/index.js' }, { hono: '^4', '@hono/node-server': '^1' }), ...NPM, 'src/index.ts': 'serve({ fetch: app.fetch, port: 3000 })\n' }, { build: [CI, 'npm run build'], start: 'NODE_ENV=production node dist/index.js', health: '/' });
add('Node server', 'hono-bun', { ...json({ dev: 'bun run --hot src/index.ts' }, { hono: '^4' }), ...BUN, 'src/index.ts': "import { Hono } from 'hono'\n\nconst app = new Hono()\n\nexport default app\n" }, { build: ['bun install --frozen-lockfile'], start: 'NODE_ENV=production bun run src/index.ts', health: '/' });
add('Node server', 'bun-serve', { ...json({}), ...BUN, 'index.ts': 'Bun.serve({ port: process.env.PORT, fetch: () => new Response("ok") });\n' }, { build: ['bun install --frozen-lockfile'], start: 'NODE_ENV=production bun run index.ts', health: '/' });
add('Node server', 'vite-express', { ...json({ dev: 'node server', build: 'vite build', start: 'NODE_ENV=production node server' }, { express: '^5', vite: '^7' }), ...NPM, 'index.html': '<div id="app">', 'server.js': EXPRESS }, { build: [CI, 'npm run build'], start: 'NODE_ENV=production npm run start', health: '/' });
add('Node server', 'procfile-wins', { ...json({ start: 'node dev.js' }), ...NPM, Procfile: 'web: node server.js\nworker: node worker.js\n', 'server.js': server('/healthz') }, { build: [CI], start: 'node server.js', health: '/healthz', proven: true });
add('Node server', 'nest', { ...json({ build: 'nest build', start: 'nest start', 'start:dev': 'nest start --watch', 'start:prod': 'node dist/main' }, { '@nestjs/core': '^11', '@nestjs/common': '^11' }), ...NPM, 'src/main.ts': 'await app.listen(process.env.PORT ?? 3000);\n' }, { build: [CI, 'npm run build'], start: 'node dist/main', health: '/' });
add('Node server', 'adonis', { ...json({ start: 'node bin/server.js', build: 'node ace build', dev: 'node ace serve --hmr' }, { '@adonisjs/core': '^6' }), ...NPM, '.env.example': 'APP_KEY=\n' }, { build: [CI, 'npm run build'], start: 'HOST=127.0.0.1 NODE_ENV=production node build/bin/server.js', health: '/', shared: ['.env'] });
add('Node server', 'strapi', { ...json({ build: 'strapi build', develop: 'strapi develop', start: 'strapi start' }, { '@strapi/strapi': '5' }), ...NPM, '.env.example': 'HOST=\n' }, { build: [CI, 'npm run build'], start: 'NODE_ENV=production npm run start', health: '/_health', shared: ['public/uploads/', '.env'] });
add('Node server', 'cli-library', { ...json({ test: 'vitest', build: 'tsup' }, {}, { bin: 'dist/cli.js' }), ...NPM }, { missing: 'no script start' });
add('Node server', 'no-build-script', { ...json({ dev: 'next dev' }, next), ...NPM }, { missing: 'no script' });
add('Node server', 'electron', { ...json({ start: 'electron .' }, {}, { devDependencies: { electron: '^39' } }), ...NPM, 'main.js': 'app.whenReady()\n' }, { missing: 'no script start' });

// Sites built by Node
const VITE = { dev: 'vite', build: 'vite build', preview: 'vite preview' };
for (const [name, lock, install, run] of MANAGERS)
  add('Static build', `vite-${name}`, { ...json(VITE, {}, { type: 'module', devDependencies: { vite: '^7.2.0' } }), ...lock, 'index.html': '<div id="app">', 'public/vite.svg': '<svg/>' }, { build: [install, `${run} build`], start: 'none' });
add('Static build', 'cra', { ...json({ start: 'react-scripts start', build: 'react-scripts build' }, { react: '^19', 'react-scripts': '5.0.1' }), ...NPM, 'public/index.html': '<div id="root">' }, { build: [CI, 'npm run build'], start: 'none' });
add('Static build', 'vue-cli', { ...json({ serve: 'vue-cli-service serve', build: 'vue-cli-service build' }, { vue: '^3', '@vue/cli-service': '~5' }), ...NPM, 'public/index.html': '' }, { build: [CI, 'npm run build'], start: 'none' });
add('Static build', 'angular', { ...json({ ng: 'ng', start: 'ng serve', build: 'ng build' }, { '@angular/core': '^21', '@angular/common': '^21' }), ...NPM, 'angular.json': {}, 'src/index.html': '' }, { build: [CI, 'npm run build'], start: 'none' });
add('Angular', 'angular-ssr', { ...json({ ng: 'ng', start: 'ng serve', build: 'ng build', 'serve:ssr:shop': 'node dist/shop/server/server.mjs' }, { '@angular/core': '^21', '@angular/ssr': '^21', express: '^5' }), ...NPM, 'angular.json': {}, 'src/server.ts': '' }, { build: [CI, 'npm run build'], start: 'node dist/shop/server/server.mjs', health: '/' });
add('Static build', 'docusaurus', { ...json({ start: 'docusaurus start', build: 'docusaurus build', serve: 'docusaurus serve' }, { '@docusaurus/core': '3.9.0' }), ...NPM }, { build: [CI, 'npm run build'], start: 'none' });
add('Static build', 'gatsby', { ...json({ develop: 'gatsby develop', start: 'gatsby develop', build: 'gatsby build' }, { gatsby: '^5' }), ...NPM }, { build: [CI, 'npm run build'], start: 'none' });
add('Static build', 'eleventy', { ...json({ build: 'npx @11ty/eleventy', start: 'npx @11ty/eleventy --serve --quiet' }, {}, { devDependencies: { '@11ty/eleventy': '^3' } }), ...NPM }, { build: [CI, 'npm run build'], start: 'none' });
add('Static build', 'vitepress', { ...json({ 'docs:dev': 'vitepress dev docs', 'docs:build': 'vitepress build docs' }, {}, { devDependencies: { vitepress: '^1' } }), ...NPM, 'docs/index.md': '# x\n' }, { build: [CI, 'npm run docs:build'], start: 'none' });

// Python
const UV = { 'uv.lock': 'version = 1\n' };
const POETRY = { 'poetry.lock': '# generated by Poetry\n' };
const SYNC = 'uv sync --frozen --no-dev --no-editable';
const POETRY_INSTALL = 'POETRY_VIRTUALENVS_IN_PROJECT=true poetry install --only main --no-root --no-interaction';
const VENV = ['python3 -m venv .venv', '.venv/bin/python -m pip install -r requirements.txt'];
const PY = '.venv/bin/python';
const UNBUFFERED = { PYTHONUNBUFFERED: '1' };
const project = (...deps: string[]) => ({ 'pyproject.toml': `[project]\nname = "demo"\nversion = "0.1.0"\nrequires-python = ">=3.12"\ndependencies = [\n${deps.map((each) => `    "${each}",\n`).join('')}]\n` });
const poetry = (...deps: string[]) => ({ 'pyproject.toml': `[tool.poetry]\nname = "demo"\nversion = "0.1.0"\n\n[tool.poetry.dependencies]\npython = "^3.12"\n${deps.map((each) => `${each} = "*"\n`).join('')}` });
const pip = (...lines: string[]) => ({ 'requirements.txt': `${lines.join('\n')}\n` });
const PYTHONS = [
  ['pip', pip, {}, VENV],
  ['uv', project, UV, [SYNC]],
  ['poetry', poetry, POETRY, [POETRY_INSTALL]],
] as const;
const MANAGE = (name: string) => `#!/usr/bin/env python\nimport os\nimport sys\n\n\ndef main():\n    os.environ.setdefault('DJANGO_SETTINGS_MODULE', '${name}.settings')\n`;
const SETTINGS = "DATABASES = {\n    'default': {\n        'ENGINE': 'django.db.backends.sqlite3',\n        'NAME': BASE_DIR / 'db.sqlite3',\n    }\n}\n\nSTATIC_URL = 'static/'\n";
const FASTAPI = 'from fastapi import FastAPI\n\napp = FastAPI()\n\n\n@app.get("/")\nasync def root():\n    return {"message": "Hello World"}\n';
const FLASK = "from flask import Flask\n\napp = Flask(__name__)\n\n\n@app.route('/health')\ndef health():\n    return 'ok'\n";
for (const [name, manifest, lock, install] of PYTHONS) {
  add('Django', `django-${name}`, { ...manifest('django', 'gunicorn'), ...lock, 'manage.py': MANAGE('mysite'), 'mysite/settings.py': SETTINGS, 'mysite/wsgi.py': '' }, { build: install, start: `${PY} -m gunicorn --bind 127.0.0.1:$PORT mysite.wsgi`, env: UNBUFFERED, health: '/', shared: ['db.sqlite3'] });
  add('FastAPI', `fastapi-${name}`, { ...manifest('fastapi', 'uvicorn'), ...lock, 'main.py': FASTAPI }, { build: install, start: `${PY} -m uvicorn --host 127.0.0.1 --port $PORT main:app`, env: UNBUFFERED, health: '/' });
  add('Flask', `flask-${name}`, { ...manifest('flask', 'gunicorn'), ...lock, 'app.py': FLASK }, { build: install, start: `${PY} -m gunicorn --bind 127.0.0.1:$PORT app:app`, env: UNBUFFERED, health: '/health' });
}
add('Django', 'django-static-media', { ...pip('Django==5.2.8', 'gunicorn==23.0.0', 'psycopg[binary]'), 'manage.py': MANAGE('config'), 'config/settings/base.py': "STATIC_ROOT = BASE_DIR / 'staticfiles'\nMEDIA_ROOT = BASE_DIR / 'media'\n", '.env.example': 'SECRET_KEY=\n' }, { build: [...VENV, `${PY} manage.py collectstatic --noinput`], start: `${PY} -m gunicorn --bind 127.0.0.1:$PORT config.wsgi`, env: UNBUFFERED, health: '/', shared: ['media/', '.env'] });
add('Django', 'django-asgi', { ...pip('django', 'uvicorn[standard]'), 'manage.py': MANAGE('mysite'), 'mysite/settings.py': '' }, { build: VENV, start: `${PY} -m uvicorn --host 127.0.0.1 --port $PORT mysite.asgi:application`, env: UNBUFFERED, health: '/' });
add('Django', 'django-procfile', { ...pip('django', 'gunicorn', 'whitenoise'), 'manage.py': MANAGE('mysite'), 'mysite/settings.py': '', Procfile: 'web: gunicorn mysite.wsgi --log-file -\nrelease: python manage.py migrate\n' }, { build: VENV, start: `${PY} -m gunicorn mysite.wsgi --log-file -`, env: UNBUFFERED, health: '/' });
add('Django', 'django-bare', { ...pip('django'), 'manage.py': MANAGE('mysite'), 'mysite/settings.py': SETTINGS }, { missing: 'add gunicorn' });
add('FastAPI', 'fastapi-standard', { ...project('fastapi[standard]>=0.120.0'), ...UV, 'app/main.py': FASTAPI, 'app/__init__.py': '' }, { build: [SYNC], start: `${PY} -m uvicorn --host 127.0.0.1 --port $PORT app.main:app`, env: UNBUFFERED, health: '/' });
add('FastAPI', 'fastapi-factory-health', { ...pip('fastapi==0.120', 'uvicorn==0.38'), 'src/main.py': 'api: FastAPI = FastAPI(title="x")\n\n@api.get("/healthz")\ndef h(): ...\n' }, { build: VENV, start: `${PY} -m uvicorn --host 127.0.0.1 --port $PORT src.main:api`, env: UNBUFFERED, health: '/healthz' });
add('FastAPI', 'fastapi-bare', { ...pip('fastapi'), 'main.py': FASTAPI }, { missing: 'add uvicorn' });
add('FastAPI', 'fastapi-pipenv', { Pipfile: '[packages]\nfastapi = "*"\nuvicorn = "*"\n', 'Pipfile.lock': {}, 'main.py': FASTAPI }, { build: ['PIPENV_VENV_IN_PROJECT=1 pipenv sync'], start: `${PY} -m uvicorn --host 127.0.0.1 --port $PORT main:app`, env: UNBUFFERED, health: '/' });
add('Flask', 'flask-factory', { ...pip('Flask', 'gunicorn'), 'flaskr/__init__.py': "import os\n\nfrom flask import Flask\n\n\ndef create_app(test_config=None):\n    app = Flask(__name__)\n" }, { build: VENV, start: `${PY} -m gunicorn --bind 127.0.0.1:$PORT 'flaskr:create_app()'`, env: UNBUFFERED, health: '/' });
add('Flask', 'flask-factory-module', { ...pip('Flask', 'gunicorn'), 'app.py': "from flask import Flask\n\n\ndef create_app():\n    app = Flask(__name__)\n    return app\n" }, { build: VENV, start: `${PY} -m gunicorn --bind 127.0.0.1:$PORT 'app:create_app()'`, env: UNBUFFERED, health: '/' });
add('Flask', 'flask-waitress', { ...pip('flask==3.1', 'waitress==3.0'), 'wsgi.py': 'from shop import create_app\n\napp = create_app()\n' }, { build: VENV, start: `${PY} -m waitress --listen=127.0.0.1:$PORT wsgi:app`, env: UNBUFFERED, health: '/' });
add('Flask', 'flask-bare', { ...pip('flask'), 'app.py': FLASK }, { missing: 'add gunicorn' });
add('Flask', 'streamlit', { ...pip('streamlit'), 'streamlit_app.py': 'import streamlit as st\n' }, { build: VENV, start: `${PY} -m streamlit run streamlit_app.py --server.address 127.0.0.1 --server.port $PORT --server.headless true`, env: UNBUFFERED, health: '/_stcore/health' });
const STDLIB = "import os\nfrom http.server import BaseHTTPRequestHandler, HTTPServer\n\n\nclass App(BaseHTTPRequestHandler):\n    def do_GET(self):\n        self.send_response(200 if self.path == '/health' else 404)\n        self.end_headers()\n\n\nHTTPServer(('127.0.0.1', int(os.environ['PORT'])), App).serve_forever()\n";
add('Python server', 'python-stdlib', { 'server.py': STDLIB }, { build: [], start: 'python3 server.py', env: UNBUFFERED, health: '/health', proven: true });
add('Python server', 'python-fixed-port', { 'main.py': STDLIB.replace("int(os.environ['PORT'])", '18473') }, { build: [], start: 'python3 main.py', env: UNBUFFERED, health: '/health', proven: true });
add('Python server', 'python-script', { ...pip('requests'), 'crawl.py': 'import requests\n' }, { missing: 'no Python file' });

// Ruby
const GEMS = { BUNDLE_DEPLOYMENT: '1', BUNDLE_PATH: 'vendor/bundle', BUNDLE_WITHOUT: 'development:test' };
const RAILS = { ...GEMS, RAILS_ENV: 'production', RAILS_LOG_TO_STDOUT: '1' };
const gemfile = (...gems: string[]) => ({ Gemfile: `source "https://rubygems.org"\n\n${gems.map((each) => `gem "${each}"\n`).join('')}`, 'Gemfile.lock': 'GEM\n' });
const rails = { 'config/application.rb': 'module Shop\n', 'config/storage.yml': 'local:\n', 'config/routes.rb': 'Rails.application.routes.draw do\n  get "up" => "rails/health#show", as: :rails_health_check\nend\n', 'config/credentials.yml.enc': 'x', 'bin/rails': '#!/usr/bin/env ruby\n', 'public/robots.txt': '' };
const PRECOMPILE = 'SECRET_KEY_BASE_DUMMY=1 bin/rails assets:precompile';
const RAILS_START = 'bin/rails server -b 127.0.0.1 -p $PORT';
add('Rails', 'rails-8', { ...gemfile('rails', 'propshaft', 'sqlite3', 'puma', 'solid_cache'), ...rails }, { build: ['bundle install', PRECOMPILE], start: RAILS_START, health: '/up', shared: ['config/master.key', 'storage/'], env: RAILS });
add('Rails', 'rails-7-sprockets', { ...gemfile('rails', 'sprockets-rails', 'pg', 'puma'), ...rails, ...json({ build: 'esbuild app/javascript/*.*' }, { esbuild: '^0.25' }) }, { build: ['bundle install', PRECOMPILE], start: RAILS_START, health: '/up', shared: ['config/master.key', 'storage/'], env: RAILS });
add('Rails', 'rails-api', { ...gemfile('rails', 'pg', 'puma'), 'config/application.rb': '', 'config/routes.rb': '' }, { build: ['bundle install'], start: RAILS_START, health: '/', env: RAILS });
add('Rails', 'rails-sqlite', { ...gemfile('rails', 'sqlite3', 'puma'), 'config/application.rb': '', 'config/database.yml': 'production:\n  primary:\n    <<: *default\n    database: storage/production.sqlite3\n' }, { build: ['bundle install'], start: RAILS_START, health: '/', shared: ['storage/'], env: RAILS });
add('Rack', 'sinatra-puma', { ...gemfile('sinatra', 'puma', 'rackup'), 'config.ru': 'run Sinatra::Application\n', 'app.rb': "get '/ping' do\n" }, { build: ['bundle install'], start: 'bundle exec puma -b tcp://127.0.0.1:$PORT', health: '/ping', env: { ...GEMS, RACK_ENV: 'production' } });
add('Rack', 'roda-rackup', { ...gemfile('roda', 'rackup', 'webrick'), 'config.ru': 'run App.freeze.app\n' }, { build: ['bundle install'], start: 'bundle exec rackup -o 127.0.0.1 -p $PORT', health: '/', env: { ...GEMS, RACK_ENV: 'production' } });
add('Rack', 'procfile-puma', { ...gemfile('rails', 'puma', 'propshaft'), ...rails, Procfile: 'web: bundle exec puma -C config/puma.rb\n' }, { build: ['bundle install', PRECOMPILE], start: 'bundle exec puma -C config/puma.rb', health: '/up', shared: ['config/master.key', 'storage/'], env: RAILS });
add('Rack', 'jekyll', { ...gemfile('jekyll', 'minima'), '_config.yml': 'title: Blog\n', 'index.markdown': '' }, { build: ['bundle install', 'JEKYLL_ENV=production bundle exec jekyll build'], start: 'none', env: GEMS });
add('Rack', 'gem-library', { Gemfile: 'source "https://rubygems.org"\n\ngemspec\n', 'lib/demo.rb': '' }, { missing: 'Gemfile' });

// PHP
const COMPOSER = 'composer install --no-dev --optimize-autoloader --no-interaction';
const composer = (require: object, more: object = {}) => ({ 'composer.json': { require, ...more }, 'composer.lock': {} });
const laravel = { artisan: '#!/usr/bin/env php\n', 'public/index.php': '<?php\n', '.env.example': 'APP_KEY=\n', 'bootstrap/app.php': "->withRouting(\n        health: '/up',\n    )\n" };
const LARAVEL_SHARED = ['.env', 'storage/'];
add('Laravel', 'laravel-vite', { ...composer({ php: '^8.2', 'laravel/framework': '^12.0' }), ...laravel, ...json({ build: 'vite build', dev: 'vite' }, { vite: '^7' }), ...NPM }, { build: [COMPOSER, CI, 'npm run build'], start: 'none', shared: LARAVEL_SHARED });
add('Laravel', 'laravel-api', { ...composer({ 'laravel/framework': '^12.0' }), ...laravel }, { build: [COMPOSER], start: 'none', shared: LARAVEL_SHARED });
add('Laravel', 'laravel-octane', { ...composer({ 'laravel/framework': '^12.0', 'laravel/octane': '^2' }), ...laravel }, { build: [COMPOSER], start: 'php artisan octane:start --host=127.0.0.1 --port=$PORT', health: '/up', shared: LARAVEL_SHARED });
add('PHP', 'symfony', { ...composer({ 'symfony/framework-bundle': '7.3.*' }), 'bin/console': '', 'public/index.php': '', '.env': 'APP_ENV=dev\n' }, { build: [COMPOSER], start: 'none', shared: ['.env.local'], env: { APP_ENV: 'prod' } });
add('PHP', 'slim', { ...composer({ 'slim/slim': '4.*' }), 'public/index.php': '<?php\n' }, { build: [COMPOSER], start: 'none' });
add('PHP', 'plain-php', { 'index.php': '<?php echo "hi";\n', 'about.php': '' }, { build: [], start: 'none', proven: true });
add('PHP', 'php-library', { ...composer({ php: '>=8.2' }), 'src/Demo.php': '<?php\n' }, { missing: 'neither public/index.php' });

// Go
const gomod = { 'go.mod': 'module example.org/shop\n\ngo 1.25\n', 'go.sum': '' };
const GOMAIN = 'package main\n\nimport "net/http"\n\nfunc main() {\n\thttp.HandleFunc("/healthz", ok)\n\thttp.ListenAndServe(":"+os.Getenv("PORT"), nil)\n}\n';
add('Go', 'go-root', { ...gomod, 'main.go': GOMAIN }, { build: ['go build -o bin/app .'], start: './bin/app', health: '/healthz' });
add('Go', 'go-cmd', { ...gomod, 'cmd/server/main.go': GOMAIN, 'cmd/migrate/main.go': 'package main\n', 'internal/db/db.go': 'package db\n' }, { build: ['go build -o bin/app ./cmd/server'], start: './bin/app', health: '/healthz' });
add('Go', 'go-cmd-named', { ...gomod, 'cmd/shop/main.go': GOMAIN }, { build: ['go build -o bin/app ./cmd/shop'], start: './bin/app', health: '/healthz' });
add('Go', 'go-gin-web', { ...gomod, 'main.go': 'package main\n\nfunc main() { gin.Default().Run() }\n', 'web/package.json': { scripts: { build: 'vite build' }, devDependencies: { vite: '^7' } } }, { build: ['go build -o bin/app .'], start: './bin/app', health: '/' });
add('Go', 'go-library', { ...gomod, 'shop.go': 'package shop\n' }, { missing: 'no main package' });

// Rust
const cargo = (more = '') => ({ 'Cargo.toml': `[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2024"\n\n${more}[dependencies]\naxum = "0.8"\n` });
const LOCKED = { 'Cargo.lock': 'version = 4\n' };
const RUSTMAIN = 'use axum::{routing::get, Router};\n\nasync fn main() {\n    let app = Router::new().route("/health", get(ok));\n}\n';
add('Rust', 'axum', { ...cargo(), ...LOCKED, 'src/main.rs': RUSTMAIN }, { build: ['cargo build --release --locked'], start: './target/release/shop', health: '/health' });
add('Rust', 'axum-unlocked', { ...cargo(), 'src/main.rs': 'fn main() {}\n' }, { build: ['cargo build --release'], start: './target/release/shop', health: '/' });
add('Rust', 'rust-bin', { ...cargo('[[bin]]\nname = "server"\npath = "src/main.rs"\n\n'), ...LOCKED, 'src/main.rs': RUSTMAIN }, { build: ['cargo build --release --locked'], start: './target/release/server', health: '/health' });
add('Rust', 'rust-library', { ...cargo(), 'src/lib.rs': 'pub fn x() {}\n' }, { missing: 'src/main.rs' });

// Java
const pom = (plugins: string, deps = '') => ({ 'pom.xml': `<project>\n\t<modelVersion>4.0.0</modelVersion>\n\t<groupId>com.example</groupId>\n\t<artifactId>demo</artifactId>\n\t<version>0.0.1-SNAPSHOT</version>\n\t<dependencies>${deps}</dependencies>\n\t<build><plugins>${plugins}</plugins></build>\n</project>\n` });
const WRAPPER = { mvnw: '#!/bin/sh\n', '.mvn/wrapper/maven-wrapper.properties': '' };
const SPRING = 'java -jar target/*.jar --server.address=127.0.0.1 --server.port=$PORT';
const SPRING_PLUGIN = '<plugin><artifactId>spring-boot-maven-plugin</artifactId></plugin>';
const QUARKUS = 'java -Dquarkus.http.host=127.0.0.1 -Dquarkus.http.port=$PORT -jar';
add('Java', 'spring-maven', { ...pom(SPRING_PLUGIN, '<artifactId>spring-boot-starter-actuator</artifactId>'), ...WRAPPER }, { build: ['./mvnw -B -DskipTests package'], start: SPRING, health: '/actuator/health' });
add('Java', 'spring-maven-plain', { ...pom(SPRING_PLUGIN) }, { build: ['mvn -B -DskipTests package'], start: SPRING, health: '/' });
add('Java', 'quarkus-maven', { ...pom('<artifactId>quarkus-maven-plugin</artifactId>', '<artifactId>quarkus-smallrye-health</artifactId>'), ...WRAPPER }, { build: ['./mvnw -B -DskipTests package'], start: `${QUARKUS} target/quarkus-app/quarkus-run.jar`, health: '/q/health' });
add('Java', 'maven-library', { ...pom('') }, { missing: 'pom.xml' });
const boot = (text: string) => ({ 'build.gradle': text, 'settings.gradle': "rootProject.name = 'demo'\n", gradlew: '#!/bin/sh\n' });
const BOOT = "plugins {\n\tid 'java'\n\tid 'org.springframework.boot' version '4.0.0'\n}\n\nversion = '0.0.1-SNAPSHOT'\n";
const SPRING_GRADLE = 'java -jar build/libs/*.jar --server.address=127.0.0.1 --server.port=$PORT';
add('Java', 'spring-gradle', boot(BOOT), { build: ['./gradlew bootJar --no-daemon'], start: SPRING_GRADLE, health: '/' });
add('Java', 'spring-gradle-kotlin', { 'build.gradle.kts': 'plugins {\n\tid("org.springframework.boot") version "4.0.0"\n}\ndependencies { implementation("org.springframework.boot:spring-boot-starter-actuator") }\n', 'settings.gradle.kts': 'rootProject.name = "demo"\n', gradlew: '' }, { build: ['./gradlew bootJar --no-daemon'], start: SPRING_GRADLE, health: '/actuator/health' });
add('Java', 'ktor', { 'build.gradle.kts': 'plugins {\n    alias(libs.plugins.ktor)\n    id("io.ktor.plugin") version "3.3.0"\n}\n', 'settings.gradle.kts': 'rootProject.name = "ktor-sample"\n', gradlew: '' }, { build: ['./gradlew buildFatJar --no-daemon'], start: 'java -jar build/libs/*-all.jar -host=127.0.0.1 -port=$PORT', health: '/' });
add('Java', 'gradle-application', boot("plugins {\n    id 'application'\n}\n\napplication {\n    mainClass = 'demo.App'\n}\n"), { build: ['./gradlew installDist --no-daemon'], start: 'build/install/demo/bin/demo', health: '/' });

// .NET, Elixir, Deno
const WEB = '<Project Sdk="Microsoft.NET.Sdk.Web">\n\n  <PropertyGroup>\n    <TargetFramework>net10.0</TargetFramework>\n';
add('.NET', 'aspnet', { 'Shop.csproj': WEB, 'Program.cs': 'app.MapHealthChecks("/healthz");\n' }, { build: ['dotnet publish Shop.csproj -c Release -o out'], start: 'dotnet out/Shop.dll --urls http://127.0.0.1:$PORT', health: '/healthz' });
add('.NET', 'aspnet-solution', { 'Shop.sln': '', 'src/Shop.Web/Shop.Web.csproj': WEB, 'src/Shop.Core/Shop.Core.csproj': '<Project Sdk="Microsoft.NET.Sdk">\n' }, { build: ['dotnet publish src/Shop.Web/Shop.Web.csproj -c Release -o out'], start: 'dotnet out/Shop.Web.dll --urls http://127.0.0.1:$PORT', health: '/' });
add('.NET', 'dotnet-console', { 'Tool.csproj': '<Project Sdk="Microsoft.NET.Sdk">\n' }, { missing: 'Microsoft.NET.Sdk.Web' });
const MIX = (deps: string) => `defmodule Hello.MixProject do\n  use Mix.Project\n\n  def project do\n    [\n      app: :hello,\n      version: "0.1.0",\n      aliases: aliases(),\n      deps: deps()\n    ]\n  end\n\n  defp deps do\n    [\n      ${deps}\n    ]\n  end\n`;
const HEX = ['mix local.hex --force --if-missing', 'mix local.rebar --force --if-missing', 'mix deps.get --only prod'];
const PHX = { MIX_ENV: 'prod', PHX_SERVER: 'true' };
add('Phoenix', 'phoenix', { 'mix.exs': `${MIX('{:phoenix, "~> 1.8.1"},\n      {:bandit, "~> 1.5"}')}      "assets.deploy": ["tailwind hello --minify", "phx.digest"]\n` }, { build: [...HEX, 'mix assets.deploy', 'mix release --overwrite'], start: '_build/prod/rel/hello/bin/hello start', health: '/', env: PHX });
add('Phoenix', 'phoenix-api', { 'mix.exs': MIX('{:phoenix, "~> 1.8.1"}') }, { build: [...HEX, 'mix release --overwrite'], start: '_build/prod/rel/hello/bin/hello start', health: '/', env: PHX });
add('Phoenix', 'mix-library', { 'mix.exs': MIX('{:jason, "~> 1.2"}') }, { missing: 'Phoenix' });
add('Deno', 'deno', { 'deno.json': { tasks: { start: 'deno run -A main.ts' } }, 'main.ts': 'Deno.serve(() => new Response("ok"));\n' }, { build: [], start: 'deno task start', health: '/' });

// Files, compose, containers
add('Static files', 'static-root', { 'index.html': '<h1>Hi</h1>', 'style.css': '' }, { build: [], start: 'none', proven: true });
add('Static files', 'static-public', { 'public/index.html': '<h1>Hi</h1>', 'README.md': '' }, { build: [], start: 'none', proven: true });
add('Static files', 'hugo', { 'hugo.toml': "baseURL = 'https://example.org/'\n", 'content/posts/a.md': '' }, { build: ['hugo --minify'], start: 'none' });
add('Static files', 'zola', { 'config.toml': 'base_url = "https://example.com"\n', 'content/_index.md': '' }, { build: ['zola build'], start: 'none' });
add('Static files', 'mdbook', { 'book.toml': '[book]\n', 'src/SUMMARY.md': '' }, { build: ['mdbook build'], start: 'none' });
add('Static files', 'mkdocs', { ...pip('mkdocs-material'), 'mkdocs.yml': 'site_name: x\n', 'docs/index.md': '' }, { build: [...VENV, `${PY} -m mkdocs build`], start: 'none' });
add('Compose', 'compose', { 'compose.yaml': 'services:\n  web:\n    image: nginx\n' }, { build: [], start: 'compose' });
add('Compose', 'docker-compose', { 'docker-compose.yml': 'services:\n  web:\n    build: .\n', Dockerfile: 'FROM nginx\n' }, { build: ['docker compose build'], start: 'compose' });
add('Compose', 'node-with-compose', { ...json({ start: 'node server.js' }), ...NPM, 'server.js': server('/health'), 'docker-compose.yml': 'services:\n  db:\n    image: postgres\n', Dockerfile: 'FROM node\n' }, { build: [CI], start: 'NODE_ENV=production node server.js', health: '/health', proven: true });
add('Compose', 'dockerfile-alone', { Dockerfile: 'FROM nginx\n' }, { missing: 'only a Dockerfile' });
add('Compose', 'procfile-alone', { Procfile: 'web: ./serve --port $PORT\n' }, { build: [], start: './serve --port $PORT', health: '/' });
add('Compose', 'readme-alone', { 'README.md': '# x\n' }, { missing: 'no file names a known stack' });

// Several packages
add('Workspace', 'one-app', { ...json({ build: 'turbo run build' }, {}, { workspaces: ['apps/*', 'packages/*'] }), ...NPM, 'apps/api/package.json': { name: '@acme/api', scripts: { build: 'tsc', start: 'node dist/main.js' } }, 'packages/ui/package.json': { name: '@acme/ui', scripts: { build: 'tsup' } }, 'turbo.json': {} }, { build: [CI, 'node_modules/.bin/turbo run build --filter=@acme/api'], start: 'cd apps/api && NODE_ENV=production node dist/main.js', health: '/' });
add('Workspace', 'pnpm-with-a-package', { ...json({ build: 'pnpm -r build' }, {}, {}), ...PNPM, 'pnpm-workspace.yaml': "packages:\n  - 'apps/*'\n  - 'packages/*'\n", 'apps/api/package.json': { name: '@acme/api', scripts: { build: 'tsc', start: 'node dist/main.js' }, dependencies: { '@acme/lib': 'workspace:*' } }, 'packages/lib/package.json': { name: '@acme/lib', scripts: { build: 'tsc' } } }, { build: ['pnpm install --frozen-lockfile', 'pnpm --filter @acme/api... run build'], start: 'cd apps/api && NODE_ENV=production node dist/main.js', health: '/' });
add('Workspace', 'two-apps', { ...json({}, {}, {}), ...PNPM, 'pnpm-workspace.yaml': "packages:\n  - 'apps/*'\n", 'apps/web/package.json': { scripts: NEXT, dependencies: next }, 'apps/api/package.json': { scripts: { start: 'node index.js' } } }, { missing: 'there are 2 apps' });
add('Workspace', 'backend-frontend', { 'backend/requirements.txt': 'fastapi\nuvicorn\n', 'backend/main.py': FASTAPI, 'frontend/package.json': { scripts: VITE, devDependencies: { vite: '^7' } } }, { missing: 'there are 2 apps' });
add('Workspace', 'app-in-folder', { 'README.md': '', 'server/package.json': { scripts: { start: 'node index.js' } }, 'server/package-lock.json': {} }, { build: ['cd server && npm ci'], start: 'cd server && NODE_ENV=production node index.js', health: '/' });

/** All of them. */
export const FIXTURES: readonly Fixture[] = all;
