/** Commits and annotated tags as git stores them, split into what is signed and its signature. */

/** What a signature covers, and the signature itself. */
export interface SignedPart {
  /** Seconds since 1970, by the clock of the committer or tagger; NaN if it does not say. */
  readonly date: number;
  readonly payload: Buffer;
  /** Armoured; undefined: it has none. */
  readonly signature: string | undefined;
}

export interface RawCommit extends SignedPart {
  readonly parents: readonly string[];
  /** undefined for one that git itself would not make: what is signed may not be what git reads. */
  readonly subject: string | undefined;
}

/** An annotated tag. */
export interface RawTag extends SignedPart {
  readonly object: string;
  readonly type: string;
  readonly name: string;
}

const dateOf = (line: string | undefined) =>
  Number(/> (\d{1,12}) [+-]\d{4}$/.exec(line ?? '')?.[1]);
const ID = '(?:[0-9a-f]{64}|[0-9a-f]{40})';
const PARENT = new RegExp(`^parent (${ID})$`);
const TREE = new RegExp(`^tree ${ID}$`);

/**
 * Reads a commit. Its parents are the lines directly after the tree, as git reads them. A signature that
 * stands elsewhere than git puts it, or twice, is no signature of what git reads: `subject` is undefined.
 */
export function parseCommit(body: Buffer): RawCommit {
  const end = body.indexOf('\n\n');
  const lines = body.toString('latin1', 0, Math.max(end, 0)).split('\n');
  const parents: string[] = [];
  let at = 1;
  for (let found = PARENT.exec(lines[at] ?? ''); found; found = PARENT.exec(lines[at] ?? '')) {
    parents.push(found[1] as string);
    at += 1;
  }
  const [author, committer] = lines.slice(at, at + 2);
  const { kept, signatures } = splitHeaders(lines.slice(at + 2));
  const isSound =
    TREE.test(lines[0] as string) &&
    author?.startsWith('author ') &&
    committer?.startsWith('committer ') &&
    signatures.length <= 1 &&
    !lines.some((line) => line.includes('\0')) &&
    !kept.some((line) => /^(?:tree|parent|author|committer) /.test(line));
  const header = [...lines.slice(0, at + 2), ...kept].map((line) => `${line}\n`).join('');
  const message = body.subarray(end + 1);
  return {
    parents,
    date: dateOf(committer),
    payload: Buffer.concat([Buffer.from(header, 'latin1'), message]),
    signature: signatures[0],
    subject: isSound ? message.toString('utf8').trimStart().split('\n', 1)[0] : undefined,
  };
}

/** Which header has the signature, and which is not covered by it: in SHA-1 repositories and others. */
function splitHeaders(lines: readonly string[]): { kept: string[]; signatures: string[] } {
  const kept: string[] = [];
  const signatures: string[] = [];
  let into: 'kept' | 'signature' | 'none' = 'kept';
  for (const line of lines) {
    const isNew = !line.startsWith(' ');
    if (isNew && line.startsWith('gpgsig ')) {
      into = 'signature';
      signatures.push(line.slice('gpgsig '.length));
    } else if (isNew) {
      into = line.startsWith('gpgsig') ? 'none' : 'kept';
      if (into === 'kept') kept.push(line);
    } else if (into === 'signature') signatures.push(`${signatures.pop()}\n${line.slice(1)}`);
    else if (into === 'kept') kept.push(line);
  }
  return { kept, signatures };
}

const TAG = new RegExp(
  `^object (${ID})\\ntype ([a-z]+)\\ntag ([^\\n\\0]+)\\ntagger ([^\\n\\0]+)\\n\\n`,
);
const BEGIN = /^-----BEGIN (?:SSH|PGP) SIGNATURE-----\r?$/gm;

/** Reads an annotated tag; undefined for one that git itself would not make. Its signature is at the end. */
export function parseTag(body: Buffer): RawTag | undefined {
  const text = body.toString('latin1');
  const [, object, type, name, tagger] = TAG.exec(text) ?? [];
  if (object === undefined || type === undefined || name === undefined) return undefined;
  const begin = [...text.matchAll(BEGIN)].at(-1)?.index;
  return {
    object,
    type,
    name: Buffer.from(name, 'latin1').toString('utf8'),
    date: dateOf(tagger),
    payload: begin === undefined ? body : body.subarray(0, begin),
    signature: begin === undefined ? undefined : text.slice(begin),
  };
}
