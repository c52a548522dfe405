/** Stacks on Python. */
import type { Clue, Stack } from './stack.ts';

const MODULE =
  /^(?<module>(?:src\/)?(?:wsgi|app|main|server|api|application|run)|app\/main|src\/main)\.py$/;
const SETTINGS = /settings(?:\/(?:base|production|__init__))?\.py$/;

const django = (server: readonly Clue[], start: string): Stack => ({
  name: 'Django',
  language: 'python',
  when: [
    { dep: 'django' },
    {
      path: 'manage.py',
      text: /DJANGO_SETTINGS_MODULE['"], ?\n?\s{0,20}['"](?<project>\w{1,60})\.settings/,
    },
    ...server,
  ],
  build: [
    '{install}',
    {
      run: '{python} manage.py collectstatic --noinput',
      when: [{ path: SETTINGS, text: /^\s{0,8}STATIC_ROOT/m }],
    },
  ],
  start,
  port: 8000,
  shared: [
    {
      path: 'db.sqlite3',
      why: "settings.py: Django's database",
      when: [{ path: SETTINGS, text: /BASE_DIR \/ ['"]db\.sqlite3|db\.sqlite3/ }],
    },
    {
      path: 'media/',
      why: 'settings.py: MEDIA_ROOT, uploads',
      when: [{ path: SETTINGS, text: /^\s{0,8}MEDIA_ROOT.{0,60}['"]media/m }],
    },
  ],
  migrate: '{python} manage.py migrate',
});

const python = (name: string, when: readonly Clue[], start: string, more = {}): Stack => ({
  name,
  language: 'python',
  when,
  build: ['{install}'],
  start,
  port: 8000,
  ...more,
});

const FLASK: readonly Clue[] = [
  { dep: 'flask' },
  {
    path: MODULE,
    text: /^(?<app>\w{1,40})\s{0,3}(?::\s{0,3}Flask\s{0,3})?=\s{0,3}(?:Flask|create_app|make_app)\(/m,
  },
];
const FACTORY: readonly Clue[] = [
  { dep: 'flask' },
  { path: /^(?:src\/)?(?<package>\w{1,40})\/__init__\.py$/, text: /^def create_app\(/m },
];
const MODULE_FACTORY: readonly Clue[] = [
  { dep: 'flask' },
  { path: MODULE, text: /^def (?<factory>create_app|make_app)\(/m },
];
const ASGI: readonly Clue[] = [
  {
    path: MODULE,
    text: /^(?<app>\w{1,40})\s{0,3}(?::\s{0,3}\w{1,20}\s{0,3})?=\s{0,3}(?:FastAPI|Starlette|Litestar|Quart|create_app)\(/m,
  },
];
const WSGI_START = '{python} -m gunicorn --bind 127.0.0.1:$PORT';
const ASGI_START = '{python} -m uvicorn --host 127.0.0.1 --port $PORT';
const WAITRESS = '{python} -m waitress --listen=127.0.0.1:$PORT';

/** In the order in which they are tried. */
export const PYTHON: readonly Stack[] = [
  django([{ dep: 'gunicorn' }], `${WSGI_START} {project}.wsgi`),
  django([{ dep: 'uvicorn' }], `${ASGI_START} {project}.asgi:application`),
  django([{ dep: 'waitress' }], `${WAITRESS} {project}.wsgi:application`),
  {
    name: 'Django',
    language: 'python',
    when: [{ dep: 'django' }, { path: 'manage.py' }],
    missing: 'Django has no server for production among its packages: add gunicorn',
  },
  python(
    'FastAPI',
    [{ dep: 'fastapi' }, { dep: 'uvicorn fastapi[standard]' }, ...ASGI],
    `${ASGI_START} {module.}:{app}`,
  ),
  python(
    'ASGI app',
    [{ dep: 'starlette litestar quart' }, { dep: 'uvicorn litestar[standard]' }, ...ASGI],
    `${ASGI_START} {module.}:{app}`,
  ),
  python(
    'ASGI app',
    [{ dep: 'hypercorn' }, ...ASGI],
    '{python} -m hypercorn --bind 127.0.0.1:$PORT {module.}:{app}',
  ),
  {
    name: 'FastAPI',
    language: 'python',
    when: [{ dep: 'fastapi' }, { dep: 'uvicorn fastapi[standard] hypercorn gunicorn', not: true }],
    missing: 'FastAPI has no server among its packages: add uvicorn',
  },
  python('Flask', [...FLASK, { dep: 'gunicorn' }], `${WSGI_START} {module.}:{app}`),
  python('Flask', [...FLASK, { dep: 'waitress' }], `${WAITRESS} {module.}:{app}`),
  python(
    'Flask',
    [...MODULE_FACTORY, { dep: 'gunicorn' }],
    `${WSGI_START} '{module.}:{factory}()'`,
  ),
  python(
    'Flask',
    [...MODULE_FACTORY, { dep: 'waitress' }],
    `${WAITRESS} --call {module.}:{factory}`,
  ),
  python('Flask', [...FACTORY, { dep: 'gunicorn' }], `${WSGI_START} '{package}:create_app()'`),
  python('Flask', [...FACTORY, { dep: 'waitress' }], `${WAITRESS} --call {package}:create_app`),
  {
    name: 'Flask',
    language: 'python',
    when: [{ dep: 'flask' }, { dep: 'gunicorn waitress uwsgi', not: true }],
    missing: 'Flask has no server for production among its packages: add gunicorn',
  },
  python(
    'Streamlit',
    [
      { dep: 'streamlit' },
      { path: /^(?<file>(?:\w{0,20}_)?(?:streamlit_)?(?:app|main|Home)\.py)$/ },
    ],
    '{python} -m streamlit run {file} --server.address 127.0.0.1 --server.port $PORT --server.headless true',
    { port: 8501, health: '/_stcore/health' },
  ),
  {
    name: 'MkDocs',
    language: 'python',
    when: [{ path: 'mkdocs.yml' }, { dep: 'mkdocs mkdocs-material' }],
    build: ['{install}', '{python} -m mkdocs build'],
    output: 'site',
  },
  python(
    'Python server',
    [
      {
        path: /^(?<file>(?:src\/)?(?:app|main|server|run)\.py)$/,
        text: /http\.server|serve_forever|make_server|aiohttp|tornado|bottle|run_app|uvicorn\.run|serve\(/,
      },
    ],
    '{python} {file}',
  ),
  {
    name: 'Python',
    language: 'python',
    when: [{ path: /^(?:requirements\.txt|pyproject\.toml|Pipfile)$/ }],
    missing: 'no Python file at the top or in src/ holds an app that a known server starts',
  },
];
