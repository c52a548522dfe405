/** Histories of commits that are written without git: good ones, and such with one thing wrong. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import type { AcceptedCommit } from '@runner/common/apps/signed';
import type { TagRule } from '@runner/common/apps/state';
import type { ResolvedRef } from '@runner/deploy/git/ref';
import type { Ref } from '@runner/deploy/git/tags';
import {
  armouredBy,
  type CommitParts,
  commitBytes,
  idOf,
  type SigningKey,
  signedBytes,
  signingKey,
} from './keys.ts';

export const TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';
export const NOW = new Date('2026-01-01T00:00:00Z');
const START = Date.parse('2025-12-01T00:00:00Z') / 1000;
const LONG_AGO = Date.parse('2019-06-01T00:00:00Z') / 1000;

/** Listed without limits: ada and bob. The others are listed with one, or not at all: eve. */
export const KEYS = {
  ada: signingKey(),
  bob: signingKey(),
  ended: signingKey(),
  early: signingKey(),
  files: signingKey(),
  revoked: signingKey(),
  eve: signingKey(),
};
export const LIST = [
  `ada ${KEYS.ada.line}`,
  `bob@example.org namespaces="git,file" ${KEYS.bob.line}`,
  `ended valid-before="20200101Z" ${KEYS.ended.line}`,
  `early valid-after="20300101Z" ${KEYS.early.line}`,
  `files namespaces="file" ${KEYS.files.line}`,
  `revoked ${KEYS.revoked.line}`,
].join('\n');

/** A bare repository, written by hand. */
export class Repo {
  readonly folder: string;

  constructor(folder: string, config = '') {
    this.folder = folder;
    rmSync(folder, { recursive: true, force: true });
    for (const name of ['objects/info', 'objects/pack', 'refs/heads', 'refs/replace', 'info'])
      mkdirSync(join(folder, name), { recursive: true });
    writeFileSync(join(folder, 'HEAD'), 'ref: refs/heads/main\n');
    writeFileSync(
      join(folder, 'config'),
      `[core]\n\trepositoryformatversion = 0\n\tbare = true\n${config}`,
    );
  }

  /** Writes an object, under another id than its own if that is given. */
  write(type: string, body: Buffer, id = idOf(type, body)): string {
    const folder = join(this.folder, 'objects', id.slice(0, 2));
    mkdirSync(folder, { recursive: true });
    const content = Buffer.concat([Buffer.from(`${type} ${body.length}\0`), body]);
    writeFileSync(join(folder, id.slice(2)), deflateSync(content, { level: 0 }));
    return id;
  }
}

/** What is to be checked, and what is there. */
export interface Case {
  readonly objects: ReadonlyMap<string, readonly [type: string, body: Buffer]>;
  accepted: AcceptedCommit;
  wanted: ResolvedRef;
  tags?: TagRule;
  /** Done to the mirror once its objects are there. */
  plant?(mirror: Repo): void;
  /** Commits that the mirror and the host lack. */
  lost?: string;
  /** The mirror has the head alone: the host is asked for the rest. */
  far?: boolean;
}

export type Random = () => number;
type Make = (commit: Buffer) => Buffer;

const by =
  (key: SigningKey, namespace?: string): Make =>
  (commit) =>
    signedBytes(commit, armouredBy(key, commit, namespace));
const PLAIN: Make = (commit) => commit;

/** How one commit of a history is wrong. */
const WRONG: Readonly<Record<string, Make>> = {
  'not signed': PLAIN,
  'a key that is not listed': by(KEYS.eve),
  'an ended key': by(KEYS.ended),
  'a key that is not valid yet': by(KEYS.early),
  'a key for files': by(KEYS.files),
  'a revoked key': by(KEYS.revoked),
  'another namespace': by(KEYS.ada, 'file'),
  'a replayed signature': (commit) =>
    signedBytes(commit, armouredBy(KEYS.ada, Buffer.concat([commit, Buffer.from('\n')]))),
  'a changed message': (commit) =>
    Buffer.from(by(KEYS.ada)(commit).toString('latin1').replace(/\n\n/, '\n\nx'), 'latin1'),
  'two signatures': (commit) => by(KEYS.ada)(by(KEYS.eve)(commit)),
  'a broken signature': (commit) =>
    signedBytes(commit, armouredBy(KEYS.ada, commit).replace(/[A-Z]/g, 'A')),
};

const pick = <T>(random: Random, all: readonly T[]): T =>
  all[Math.floor(random() * all.length)] as T;
const signer = (random: Random) => by(pick(random, [KEYS.ada, KEYS.bob]));

/** A history that is being written. */
class History {
  readonly objects = new Map<string, readonly [string, Buffer]>();
  /** Of what was accepted, and what came since, the oldest first. */
  readonly old: string[] = [];
  readonly fresh: string[] = [];
  readonly #random: Random;
  #count = 0;

  constructor(random: Random) {
    this.#random = random;
  }

  add(type: string, body: Buffer): string {
    const id = idOf(type, body);
    this.objects.set(id, [type, body]);
    return id;
  }

  parts(parents: readonly string[], date?: number): CommitParts {
    this.#count += 1;
    const random = this.#random;
    // Some clocks are wrong by up to eleven hours.
    const skew = random() < 0.2 ? Math.floor((random() - 0.5) * 79_200) : 0;
    const at = date ?? START + this.#count * 60 + skew;
    return { tree: TREE, parents, date: at, message: `change ${this.#count} ${random()}` };
  }

  commit(parents: readonly string[], make: Make, date?: number): string {
    return this.add('commit', make(commitBytes(this.parts(parents, date))));
  }

  tag(name: string, object: string, make: (tag: Buffer) => Buffer, type = 'commit'): string {
    const who = `Ada <ada@example.org> ${START + 9_000} +0000`;
    return this.add(
      'tag',
      make(Buffer.from(`object ${object}\ntype ${type}\ntag ${name}\ntagger ${who}\n\nnotes\n`)),
    );
  }
}

const signTag = (key: SigningKey) => (tag: Buffer) =>
  Buffer.concat([tag, Buffer.from(`${armouredBy(key, tag)}\n`)]);

/** A history with accepted commits, signed or not, and signed ones since, with merges. `wrong` is in the middle. */
function historyOf(random: Random, wrong?: (history: History, parent: string) => string): History {
  const history = new History(random);
  for (let left = 2 + Math.floor(random() * 4); left > 0; left -= 1) {
    const parents = history.old.slice(-1);
    history.old.push(history.commit(parents, random() < 0.5 ? PLAIN : signer(random)));
  }
  const steps = 1 + Math.floor(random() * 5);
  const at = wrong ? Math.floor(random() * steps) : -1;
  for (let step = 0; step < steps; step += 1) {
    const last = (history.fresh.at(-1) ?? history.old.at(-1)) as string;
    if (step === at && wrong) {
      history.fresh.push(wrong(history, last));
      continue;
    }
    const isMerge = random() < 0.35;
    const side = isMerge
      ? [history.commit([pick(random, [...history.old, ...history.fresh])], signer(random))]
      : [];
    history.fresh.push(history.commit([last, ...side], signer(random)));
  }
  return history;
}

function caseOf({ objects, old, fresh }: History, more: Partial<Case> = {}): Case {
  const [head, last] = [fresh.at(-1) as string, old.at(-1) as string];
  const accepted = { commit: last, version: last.slice(0, 12), at: NOW.toISOString() };
  const wanted = { commit: head, version: head.slice(0, 12), head, refs: [] };
  return { objects, accepted, wanted, ...more };
}

/** The same with a tag that is followed; `id` is the tag's object, or the commit. */
function tagCase(history: History, name: string, id: string, before = 'v1.0.0'): Case {
  const found = caseOf(history);
  const { commit } = found.wanted;
  const tag = `refs/tags/${name}`;
  const refs: Ref[] =
    id === commit
      ? [[id, tag]]
      : [
          [id, tag],
          [commit, `${tag}^{}`],
        ];
  return {
    ...found,
    tags: { pattern: 'v*', semver: null },
    accepted: { ...found.accepted, version: before },
    wanted: { ...found.wanted, version: name, tag, refs },
  };
}

/** A good case. */
export function goodCase(random: Random): Case {
  const history = historyOf(random);
  const kind = random();
  if (kind < 0.15) {
    const head = history.fresh.at(-1) as string;
    const id = random() < 0.5 ? head : history.tag('v1.2.0', head, signTag(KEYS.ada));
    return tagCase(history, 'v1.2.0', id);
  }
  if (kind < 0.25) {
    // The tag covers a commit that is not signed itself.
    const head = history.commit([history.fresh.at(-1) as string], PLAIN);
    history.fresh.push(head);
    return tagCase(history, 'v2.0.0', history.tag('v2.0.0', head, signTag(KEYS.bob)));
  }
  if (kind < 0.3) {
    const found = caseOf(history);
    return { ...found, accepted: { ...found.accepted, commit: found.wanted.commit } };
  }
  return caseOf(history, kind < 0.33 ? { far: true } : {});
}

const oneWrong = (make: Make) => (random: Random) =>
  caseOf(historyOf(random, (history, parent) => history.commit([parent], make)));
const hidden =
  (plant: (mirror: Repo, bad: string, parent: string, history: History) => void) =>
  (random: Random) => {
    let [bad, before] = ['', ''];
    const history = historyOf(random, (each, parent) => {
      before = parent;
      bad = each.commit([parent], PLAIN);
      return bad;
    });
    return caseOf(history, { plant: (mirror) => plant(mirror, bad, before, history) });
  };
const tagged =
  (name: string, id: (history: History, head: string) => string, before?: string) =>
  (random: Random) => {
    const history = historyOf(random);
    return tagCase(history, name, id(history, history.fresh.at(-1) as string), before);
  };
const elsewhere = (head: (history: History, random: Random) => string) => (random: Random) => {
  const history = historyOf(random);
  const found = caseOf(history);
  const commit = head(history, random);
  return { ...found, wanted: { ...found.wanted, commit, head: commit } };
};

/** What must be refused, by what is wrong. */
export const MUTATIONS: Readonly<Record<string, (random: Random) => Case>> = {
  ...Object.fromEntries(Object.entries(WRONG).map(([name, make]) => [name, oneWrong(make)])),
  'an ended key, back-dated': (random) =>
    caseOf(
      historyOf(random, (history, parent) => history.commit([parent], by(KEYS.ended), LONG_AGO)),
    ),
  'an unsigned merge': (random) =>
    caseOf(
      historyOf(random, (history, parent) => {
        const side = history.commit([pick(random, history.old)], signer(random));
        return history.commit([parent, side], PLAIN);
      }),
    ),
  'an unsigned commit of a merged branch': (random) =>
    caseOf(
      historyOf(random, (history, parent) => {
        const side = history.commit([pick(random, history.old)], PLAIN);
        return history.commit([parent, side], signer(random));
      }),
    ),
  'reordered parents': (random) =>
    caseOf(
      historyOf(random, (history, parent) => {
        const side = history.commit([pick(random, history.old)], signer(random));
        const parts = history.parts([parent, side]);
        const armoured = armouredBy(KEYS.ada, commitBytes(parts));
        return history.add(
          'commit',
          signedBytes(commitBytes({ ...parts, parents: [side, parent] }), armoured),
        );
      }),
    ),
  'another parent': (random) =>
    caseOf(
      historyOf(random, (history, parent) => {
        const parts = history.parts([history.commit([parent], signer(random))]);
        const armoured = armouredBy(KEYS.ada, commitBytes(parts));
        return history.add(
          'commit',
          signedBytes(commitBytes({ ...parts, parents: [parent] }), armoured),
        );
      }),
    ),
  'a signature before the parents': (random) =>
    caseOf(
      historyOf(random, (history, parent) => {
        const commit = commitBytes(history.parts([parent]));
        const at = commit.indexOf('\n') + 1;
        const header = `gpgsig ${armouredBy(KEYS.ada, commit).split('\n').join('\n ')}\n`;
        return history.add(
          'commit',
          Buffer.concat([commit.subarray(0, at), Buffer.from(header), commit.subarray(at)]),
        );
      }),
    ),
  'a graft': hidden((mirror, bad, parent, { fresh, old }) => {
    const child = fresh[fresh.indexOf(bad) + 1] ?? bad;
    writeFileSync(join(mirror.folder, 'info/grafts'), `${child} ${parent}\n${bad} ${old.at(-1)}\n`);
  }),
  'a replace ref': hidden((mirror, bad, parent) => {
    const commit = commitBytes({ tree: TREE, parents: [parent], date: START, message: 'good' });
    const id = mirror.write('commit', by(KEYS.ada)(commit));
    writeFileSync(join(mirror.folder, 'refs/replace', bad), `${id}\n`);
  }),
  'a planted object': hidden((mirror, bad, parent) => {
    const commit = commitBytes({ tree: TREE, parents: [parent], date: START, message: 'good' });
    mirror.write('commit', by(KEYS.ada)(commit), bad);
  }),
  'a planted border': hidden((mirror, bad, _, { fresh }) => {
    writeFileSync(join(mirror.folder, 'shallow'), `${fresh[fresh.indexOf(bad) + 1] ?? bad}\n`);
  }),
  'a border of the host': (random) => {
    let lost = '';
    const history = historyOf(random, (each, parent) => {
      lost = each.commit([parent], signer(random));
      const child = each.commit([lost], signer(random));
      return child;
    });
    return caseOf(history, { lost });
  },
  'an older commit': elsewhere(({ old, objects }, random) => {
    const key = pick(random, [KEYS.ada, KEYS.bob]);
    const parent = old.at(-2) as string;
    const id = idOf(
      'commit',
      by(key)(commitBytes({ tree: TREE, parents: [parent], date: START + 9, message: 'x' })),
    );
    (objects as Map<string, unknown>).set(id, [
      'commit',
      by(key)(commitBytes({ tree: TREE, parents: [parent], date: START + 9, message: 'x' })),
    ]);
    return id;
  }),
  'a rewound branch': (random) => {
    const history = historyOf(random);
    const found = caseOf(history);
    // The last accepted commit is the newest, the branch is back at one that is signed as well.
    const back = history.commit(history.old.slice(-1), signer(random));
    const accepted = history.commit([back], signer(random));
    return {
      ...found,
      accepted: { ...found.accepted, commit: accepted },
      wanted: { ...found.wanted, commit: back, head: back },
    };
  },
  'an unrelated history': elsewhere((history, random) => history.commit([], signer(random))),
  'an unsigned tag': tagged('v1.2.0', (history, head) => history.tag('v1.2.0', head, PLAIN)),
  'a tag of another signer': tagged('v1.2.0', (history, head) =>
    history.tag('v1.2.0', head, signTag(KEYS.eve)),
  ),
  'a tag of another name': tagged('v1.2.0', (history, head) =>
    history.tag('v1.1.0', head, signTag(KEYS.ada)),
  ),
  'a tag of a tag': tagged('v1.2.0', (history, head) =>
    history.tag('v1.2.0', history.tag('v1.2.0', head, signTag(KEYS.ada)), signTag(KEYS.ada), 'tag'),
  ),
  'a tag of another commit': tagged('v1.2.0', (history) =>
    history.tag('v1.2.0', history.old.at(-1) as string, signTag(KEYS.ada)),
  ),
  'a moved tag': tagged('v1.0.0', (history, head) =>
    history.tag('v1.0.0', head, signTag(KEYS.ada)),
  ),
  'a lower tag': tagged(
    'v1.2.0',
    (history, head) => history.tag('v1.2.0', head, signTag(KEYS.ada)),
    'v1.10.0',
  ),
  'a lower tag without a signature of its own': tagged('v1.2.0', (_, head) => head, 'v1.10.0'),
};
