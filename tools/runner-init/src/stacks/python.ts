/** Stacks on Python. */
import { type Clue, rowsOf, type Stack } from './stack.ts';

const MODULE =
  /^(?<module>(?:src\/)?(?:wsgi|app|main|server|api|application|run)|app\/main|src\/main)\.py$/;
const SETTINGS = /settings(?:\/(?:base|production|__init__))?\.py$/;

const { server, site, missing } = rowsOf('python', { build: ['{install}'], port: 8000 });

const django = (dep: string, start: string) =>
  server(
    'Django',
    [
      'django',
      {
        path: 'manage.py',
        text: /DJANGO_SETTINGS_MODULE['"], ?\n?\s{0,20}['"](?<project>\w{1,60})\.settings/,
      },
      dep,
    ],
    start,
    {
      build: [
        '{install}',
        {
          run: '{python} manage.py collectstatic --noinput',
          when: [{ path: SETTINGS, text: /^\s{0,8}STATIC_ROOT/m }],
        },
      ],
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
    },
  );

const FLASK: Clue = {
  path: MODULE,
  text: /^(?<app>\w{1,40})\s{0,3}(?::\s{0,3}Flask\s{0,3})?=\s{0,3}(?:Flask|create_app|make_app)\(/m,
};
const FACTORY: Clue = { path: MODULE, text: /^def (?<factory>create_app|make_app)\(/m };
const PACKAGE: Clue = {
  path: /^(?:src\/)?(?<package>\w{1,40})\/__init__\.py$/,
  text: /^def create_app\(/m,
};
const ASGI: Clue = {
  path: MODULE,
  text: /^(?<app>\w{1,40})\s{0,3}(?::\s{0,3}\w{1,20}\s{0,3})?=\s{0,3}(?:FastAPI|Starlette|Litestar|Quart|create_app)\(/m,
};
const WSGI_START = '{python} -m gunicorn --bind 127.0.0.1:$PORT';
const ASGI_START = '{python} -m uvicorn --host 127.0.0.1 --port $PORT';
const WAITRESS = '{python} -m waitress --listen=127.0.0.1:$PORT';

/** In the order in which they are tried. */
export const PYTHON: readonly Stack[] = [
  django('gunicorn', `${WSGI_START} {project}.wsgi`),
  django('uvicorn', `${ASGI_START} {project}.asgi:application`),
  django('waitress', `${WAITRESS} {project}.wsgi:application`),
  missing(
    'Django',
    ['django', { path: 'manage.py' }, { dep: 'gunicorn uvicorn waitress', not: true }],
    'Django has no server for production among its packages: add gunicorn',
  ),
  server(
    'FastAPI',
    ['fastapi', 'uvicorn fastapi[standard]', ASGI],
    `${ASGI_START} {module.}:{app}`,
  ),
  server(
    'ASGI app',
    ['starlette litestar quart', 'uvicorn litestar[standard]', ASGI],
    `${ASGI_START} {module.}:{app}`,
  ),
  server(
    'ASGI app',
    ['hypercorn', ASGI],
    '{python} -m hypercorn --bind 127.0.0.1:$PORT {module.}:{app}',
  ),
  missing(
    'Django',
    ['django', { path: 'manage.py' }],
    'manage.py names no settings such as PROJECT.settings, which would say what to start',
  ),
  missing(
    'FastAPI',
    ['fastapi', { dep: 'uvicorn fastapi[standard] hypercorn gunicorn', not: true }],
    'FastAPI has no server among its packages: add uvicorn',
  ),
  server('Flask', ['flask', FLASK, 'gunicorn'], `${WSGI_START} {module.}:{app}`),
  server('Flask', ['flask', FLASK, 'waitress'], `${WAITRESS} {module.}:{app}`),
  server('Flask', ['flask', FACTORY, 'gunicorn'], `${WSGI_START} '{module.}:{factory}()'`),
  server('Flask', ['flask', FACTORY, 'waitress'], `${WAITRESS} --call {module.}:{factory}`),
  server('Flask', ['flask', PACKAGE, 'gunicorn'], `${WSGI_START} '{package}:create_app()'`),
  server('Flask', ['flask', PACKAGE, 'waitress'], `${WAITRESS} --call {package}:create_app`),
  missing(
    'Flask',
    ['flask', { dep: 'gunicorn waitress uwsgi', not: true }],
    'Flask has no server for production among its packages: add gunicorn',
  ),
  server(
    'Streamlit',
    ['streamlit', { path: /^(?<file>(?:\w{0,20}_)?(?:streamlit_)?(?:app|main|Home)\.py)$/ }],
    '{python} -m streamlit run {file} --server.address 127.0.0.1 --server.port $PORT --server.headless true',
    { port: 8501, health: '/_stcore/health' },
  ),
  site('MkDocs', [{ path: 'mkdocs.yml' }, 'mkdocs mkdocs-material'], 'site', {
    build: ['{install}', '{python} -m mkdocs build'],
  }),
  server(
    'Python server',
    {
      path: /^(?<file>(?:src\/)?(?:app|main|server|run)\.py)$/,
      text: /http\.server|serve_forever|make_server|aiohttp|tornado|bottle|run_app|uvicorn\.run|serve\(/,
    },
    '{python} {file}',
  ),
  missing(
    'Python',
    { path: /^(?:requirements\.txt|pyproject\.toml|Pipfile)$/ },
    'no Python file at the top or in src/ holds an app that a known server starts',
  ),
];
