/**
 * What the sets of a list mean, such as `npm`: the hosts that the tool's own configuration names, and those in
 * the lock file of a release. No host is known here.
 */
import { join } from 'node:path';
import {
  type HostRule,
  type HostSet,
  hostRule,
  isHostSet,
  ruleFor,
  ruleText,
} from '@runner/common/config/network';
import { readTextIfThere } from '@runner/common/files/read';
import { orElse } from '@runner/common/foundation/attempt';

/** Where to look, and how to run a command there. */
export interface SetSource {
  /** Whose files count: the release and HOME, or HOME alone. */
  readonly folders: readonly string[];
  /** What a shell command prints; '' if it fails. */
  ask(command: string): string;
}

interface SetDefinition {
  /** Shell commands that print addresses. */
  readonly asks: readonly string[];
  /** Files, and in which of their lines addresses count. No line of a commit may take long. */
  readonly files: Readonly<Record<string, RegExp>>;
}

const ANY = /(.+)/g;
const FILE_MAX = 67_108_864;
const PORT_MAX = 65_535;

const SETS: Readonly<Record<HostSet, SetDefinition>> = {
  npm: {
    asks: [
      'npm config get registry',
      'test ! -e yarn.lock || for key in registry npmRegistryServer; do yarn config get $key; done',
    ],
    files: {
      '.npmrc': ANY,
      '.yarnrc': ANY,
      '.yarnrc.yml': ANY,
      'package-lock.json': /"resolved": *"([^"]+)/g,
      'npm-shrinkwrap.json': /"resolved": *"([^"]+)/g,
      'pnpm-lock.yaml': /tarball: *([^ ,}]+)/g,
      'yarn.lock': /^ +resolved "([^"]+)/gm,
    },
  },
  pypi: {
    asks: [
      'pip config get global.index-url',
      `echo "$PIP_INDEX_URL"; pip install --help | tr -s ' \\n' ' ' | grep -o 'Package Index (default [^)]*'`,
    ],
    files: {
      'requirements.txt': /^ *(?:-i|-f|--(?:extra-)?index-url|--find-links)[ =]+(.+)/gm,
      '.config/pip/pip.conf': ANY,
      '.pip/pip.conf': ANY,
      'poetry.lock': /^url = "([^"]+)/gm,
      'uv.lock': /(?:url|registry) = "([^"]+)/g,
      'Pipfile.lock': /"url": *"([^"]+)/g,
    },
  },
  cargo: {
    asks: [],
    files: {
      '.cargo/config.toml': ANY,
      'Cargo.lock': /^source = "(?:registry|sparse|git)\+([^"]+)/gm,
    },
  },
  go: { asks: [`go env GOPROXY GOSUMDB | tr ',|' '\\n' | sed 's,^[^:]*$,https://&,'`], files: {} },
  composer: {
    asks: ['composer config --list | grep -F [repositories.'],
    files: { 'composer.lock': /"(?:dist|source)": *\{[^{}]*?"url": *"([^"]+)/g },
  },
  rubygems: {
    asks: ['gem sources'],
    files: { 'Gemfile.lock': /^ +remote: (.+)/gm, '.bundle/config': /^(?=.*MIRROR)(.+)/gm },
  },
};

const ADDRESS =
  /\b(https?):\/\/(?:[^/@\s"']*@)?([A-Za-z0-9.-]+\.[A-Za-z][A-Za-z0-9-]*)(?::(\d{1,5}))?/g;

function hostsIn(text: string): HostRule[] {
  const rules = [...text.matchAll(ADDRESS)].map(([, scheme, host = '', port]) =>
    hostRule(`${host}:${port ?? (scheme === 'http' ? 80 : 443)}`),
  );
  return rules.filter(({ port }) => port > 0 && port <= PORT_MAX);
}

/** A list with its sets replaced by their hosts. */
export function rulesOf(list: readonly string[], source: SetSource): HostRule[] {
  const rules = list.flatMap((entry) =>
    isHostSet(entry)
      ? hostsOfSet(SETS[entry], source).map((rule) => ({ ...rule, of: entry }))
      : [hostRule(entry)],
  );
  const unique = new Map(rules.map((rule) => [ruleText(rule), rule]));
  return [...unique.values()];
}

function hostsOfSet({ asks, files }: SetDefinition, { folders, ask }: SetSource): HostRule[] {
  const answered = asks.length > 0 ? hostsIn(ask(asks.join('; '))) : [];
  const found = folders.flatMap((folder) =>
    Object.entries(files).flatMap(([name, lines]) => {
      const text = orElse(() => readTextIfThere(join(folder, name), FILE_MAX), '') ?? '';
      return [...text.matchAll(lines)].flatMap(([, line = '']) => hostsIn(line));
    }),
  );
  return [...answered, ...found];
}

/** The shortest list that allows what commands reached that were to learn it: sets, then hosts by their names; of two as long the one with fewer hosts. */
export function shortestList(
  reached: readonly Pick<HostRule, 'host' | 'port'>[],
  sets: ReadonlyMap<string, readonly HostRule[]>,
): string[] {
  const lists = Array.from({ length: 2 ** sets.size }, (_, bits) => {
    const names = [...sets.keys()].filter((_name, at) => bits & (1 << at));
    const rules = names.flatMap((name) => sets.get(name) ?? []);
    const rest = reached.filter(({ host, port }) => !ruleFor(rules, host, port));
    const hosts = rest.map(({ host, port }) => ruleText({ host, port, isPrivate: false }));
    return { list: [...names, ...hosts.sort()], rest: rest.length };
  });
  lists.sort((a, b) => a.list.length - b.list.length || a.rest - b.rest);
  return lists[0]?.list ?? [];
}
