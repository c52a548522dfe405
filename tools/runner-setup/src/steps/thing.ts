/** The things that an app needs of the server. */
import type { MadeThing } from '@runner/deploy/instances/setup-record';
import type { Argv } from '../app/programs.ts';

/** Whole contents of a file, or where a link leads. */
export type FileThing = { readonly kind: 'file'; readonly path: string } & (
  | { readonly text: string }
  | { readonly to: string }
);

/** A test of a proxy's configuration, and how it takes effect. */
export interface ReloadThing {
  readonly kind: 'reload';
  readonly name: string;
  /** Left out for systemd itself. */
  readonly test: Argv | undefined;
  readonly run: readonly Argv[];
  /** Takes up that the files are gone. */
  readonly back: readonly Argv[];
  /** What takes effect: the paths of things before it. */
  readonly paths: readonly string[];
}

/** One thing that an app needs. */
export type Thing =
  | { readonly kind: 'user'; readonly name: string }
  /** A folder of the owner of runner's root, or of root in `/etc`. */
  | { readonly kind: 'folder'; readonly path: string }
  /** Lets a user pass through a folder (`x`), or read what is and will be in it (`rX`). */
  | {
      readonly kind: 'access';
      readonly path: string;
      readonly user: string;
      readonly rights: 'x' | 'rX';
    }
  | FileThing
  | { readonly kind: 'line'; readonly path: string; readonly line: string }
  | { readonly kind: 'enabled' | 'disabled'; readonly unit: string }
  | { readonly kind: 'certificate'; readonly domain: string; readonly run: Argv }
  | ReloadThing;

/** A thing of one kind. */
export type ThingOf<K extends Thing['kind']> = Extract<Thing, { kind: K }>;

/** The fields that name a thing. */
const NAMED_BY: Readonly<Record<Thing['kind'], readonly string[]>> = {
  user: ['name'],
  reload: ['name'],
  folder: ['path'],
  file: ['path'],
  line: ['path', 'line'],
  access: ['path', 'user'],
  certificate: ['domain'],
  enabled: ['unit'],
  disabled: ['unit'],
};

/** Names a thing in the record. */
export function idOf(thing: Thing): string {
  const fields = thing as unknown as Readonly<Record<string, string>>;
  return [thing.kind, ...NAMED_BY[thing.kind].map((name) => fields[name])].join(' ');
}

/** What the record keeps of a thing: enough to undo it without the app. */
export function fieldsOf(thing: Thing): MadeThing['fields'] {
  const fields = Object.entries(thing).flatMap(([name, value]) => {
    if (name === 'kind' || name === 'text') return [];
    return [[name, typeof value === 'string' ? value : JSON.stringify(value)]];
  });
  return Object.fromEntries(fields);
}

/** The thing of an entry of the record; a file without its contents. */
export function thingOf({ kind, fields }: MadeThing): Thing {
  const { test, run, back, paths, ...texts } = fields;
  const lists = Object.entries({ test, run, back, paths }).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, JSON.parse(value) as unknown]],
  );
  return { kind, ...texts, ...Object.fromEntries(lists) } as unknown as Thing;
}
