/** What counts if no language does: files, sites of single programs, containers. */
import type { Clue, Stack } from './stack.ts';

const site = (name: string, when: readonly Clue[], build: string, output: string): Stack => ({
  name,
  language: 'none',
  when,
  build: [build],
  output,
});

/** What counts if no language does. */
export const WITHOUT_LANGUAGE: readonly Stack[] = [
  site(
    'Zola',
    [{ path: /^(?:config|zola)\.toml$/, text: /^base_url\s{0,3}=/m }],
    'zola build',
    'public',
  ),
  site(
    'Hugo',
    [
      { path: /^(?:hugo\.(?:toml|yaml|json)|config\.toml)$/ },
      { path: /^(?:content|archetypes|themes)\// },
    ],
    'hugo --minify',
    'public',
  ),
  site('mdBook', [{ path: 'book.toml' }], 'mdbook build', 'book'),
  {
    name: 'Compose',
    language: 'none',
    when: [{ path: /^(?<compose>(?:docker-)?compose\.ya?ml)$/ }],
    compose: '{compose}',
  },
  { name: 'Static files', language: 'none', when: [{ path: 'index.html' }], output: '.' },
  {
    name: 'Static files',
    language: 'none',
    when: [{ path: 'public/index.html' }],
    output: 'public',
  },
  {
    name: 'Dockerfile',
    language: 'none',
    when: [{ path: /^(?:Dockerfile|Containerfile)$/ }],
    missing:
      'there is only a Dockerfile: add a compose.yaml with `services: { web: { build: . } }`, which runner starts',
  },
];
