/**
 * One commit as the language of `git fast-import`: a single process makes the blobs, the tree, the
 * commit, the branch and the tag.
 */

/**
 * Content by path; `null` deletes, `{ link }` makes a symlink, `{ submodule }` names a commit of another
 * repository. Other files stay.
 */
export type Files = Readonly<
  Record<
    string,
    string | Uint8Array | null | { readonly link: string } | { readonly submodule: string }
  >
>;

/** What the commit holds, and where it goes. */
export interface ImportedCommit {
  readonly branch: string;
  readonly message: string;
  readonly files: Files;
  /** Paths of `files` that get mode 0755. */
  readonly executable: readonly string[];
  /** Full id of the parent; null for a commit without one. */
  readonly parent: string | null;
  /** Full id of the tree to begin with when there is no parent; null for an empty one. */
  readonly tree: string | null;
  /** An annotated tag. */
  readonly tag: string | undefined;
  /** Seconds since 1970, of author, committer and tagger. */
  readonly time: number;
}

const PERSON = 'Ada Example <ada@example.org>';

function data(content: string | Uint8Array): Buffer[] {
  const bytes = Buffer.from(content as string);
  return [Buffer.from(`data ${bytes.length}\n`), bytes, Buffer.from('\n')];
}

/** A path in quotes, every byte that is not plain as three octal digits. */
function quoted(path: string): string {
  const bytes = [...Buffer.from(path)].map((byte) =>
    /[\w./ +-]/.test(String.fromCharCode(byte))
      ? String.fromCharCode(byte)
      : `\\${byte.toString(8).padStart(3, '0')}`,
  );
  return `"${bytes.join('')}"`;
}

function change(path: string, content: Files[string], executable: boolean): Buffer[] {
  if (content === null || content === undefined) return [Buffer.from(`D ${quoted(path)}\n`)];
  if (typeof content === 'object' && 'submodule' in content)
    return [Buffer.from(`M 160000 ${content.submodule} ${quoted(path)}\n`)];
  const isLink = typeof content === 'object' && 'link' in content;
  const mode = isLink ? '120000' : executable ? '100755' : '100644';
  const head = Buffer.from(`M ${mode} inline ${quoted(path)}\n`);
  return [head, ...data(isLink ? content.link : content)];
}

/** The input of `git fast-import`, which prints the full id of the commit. */
export function importStream(commit: ImportedCommit): Buffer {
  const when = `${PERSON} ${commit.time} +0000`;
  const parts: Buffer[] = [
    Buffer.from(`commit refs/heads/${commit.branch}\nmark :1\nauthor ${when}\ncommitter ${when}\n`),
    ...data(`${commit.message}\n`),
  ];
  if (commit.parent !== null) parts.push(Buffer.from(`from ${commit.parent}\n`));
  if (commit.tree !== null) parts.push(Buffer.from(`M 040000 ${commit.tree} ""\n`));
  for (const [path, content] of Object.entries(commit.files)) {
    parts.push(...change(path, content, commit.executable.includes(path)));
  }
  if (commit.tag !== undefined) {
    parts.push(Buffer.from(`tag ${commit.tag}\nfrom :1\ntagger ${when}\n`), ...data(commit.tag));
  }
  parts.push(Buffer.from('get-mark :1\ndone\n'));
  return Buffer.concat(parts);
}
