/** What counts if no language does: files, sites of single programs, containers. */
import { rowsOf, type Stack } from './stack.ts';

const { site, missing } = rowsOf('none');

const COMPOSE = /^(?<compose>(?:docker-)?compose\.ya?ml)$/;

/** What counts if no language does. */
export const WITHOUT_LANGUAGE: readonly Stack[] = [
  site('Zola', { path: /^(?:config|zola)\.toml$/, text: /^base_url\s{0,3}=/m }, 'public', {
    build: ['zola build'],
  }),
  site(
    'Hugo',
    [
      { path: /^(?:hugo\.(?:toml|yaml|json)|config\.toml)$/ },
      { path: /^(?:content|archetypes|themes)\// },
    ],
    'public',
    { build: ['hugo --minify'] },
  ),
  site('mdBook', { path: 'book.toml' }, 'book', { build: ['mdbook build'] }),
  {
    name: 'Compose',
    language: 'none',
    when: [{ path: COMPOSE }],
    compose: '{compose}',
    build: [
      { when: [{ path: COMPOSE, text: /^[^#\n]*[\s{,]build:/m }], run: 'docker compose build' },
    ],
  },
  site('Static files', { path: 'index.html' }, '.'),
  site('Static files', { path: 'public/index.html' }, 'public'),
  missing(
    'Dockerfile',
    { path: /^(?:Dockerfile|Containerfile)$/ },
    'there is only a Dockerfile: add a compose.yaml with `services: { web: { build: ., ports: ["127.0.0.1:3000:8080"] } }`, if it listens on 8080',
  ),
];
