/**
 * The commands that fix what a guard found. They change the owner of a file only inside the user's own
 * root, so that they never take anything from another user.
 */
import { lstatSync, realpathSync, type Stats } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { orElse } from '../foundation/attempt.ts';
import type { Io } from '../foundation/io.ts';
import { word } from '../text/shell.ts';

/** The command that runs the guards, and its user. */
export interface Asker {
  readonly io: Pick<Io, 'uid' | 'cwd' | 'env'>;
  /** The command line as typed, without `--root`. */
  readonly command: string;
  /** Whether `--root` was given, which overrides RUNNER_ROOT. */
  readonly rootNamed: boolean;
}

/** lstat of a path; undefined if it does not exist or cannot be reached. */
export function look(path: string): Stats | undefined {
  // ENOTDIR or EACCES: the reader reports it.
  return orElse(() => lstatSync(path, { throwIfNoEntry: false }), undefined);
}

export function isAbove(path: string, root: string): boolean {
  return root !== path && root.startsWith(path === '/' ? path : `${path}/`);
}

/** Makes the commands for one root. */
export class Fixes {
  readonly #root: string;
  readonly #key: string;
  readonly #asker: Asker;

  /** `key` is the path of the master key, which may be outside the root. */
  constructor(root: string, key: string, asker: Asker) {
    this.#root = root;
    this.#key = key;
    this.#asker = asker;
  }

  /** Changes the mode of a file of `owner`. */
  mode(mode: string, path: string, owner: number): string {
    return this.#by([owner], `chmod ${mode} ${word(path)}`);
  }

  /** Replaces a file that has a second name by a copy. */
  hardLink(path: string, owner: number): string {
    const at = word(path);
    const owners = [owner, ownerOf(dirname(path))];
    return this.#by(owners, `cp -p ${at} ${at}.new`, `mv ${at}.new ${at}`);
  }

  /** Replaces a link by its target; the root is named by its real path instead. */
  link(path: string): string {
    const folder = ownerOf(dirname(path));
    let target: string;
    try {
      target = realpathSync(path);
    } catch {
      return this.#by([folder], `rm ${word(path)}`);
    }
    if (path === this.#root || isAbove(path, this.#root))
      return this.#withRoot(target + this.#root.slice(path.length));
    const at = word(path);
    return this.#by([folder, ownerOf(dirname(target))], `rm ${at}`, `mv ${word(target)} ${at}`);
  }

  /** For a file whose `owner` is neither root nor the owner of the installation. */
  owner(path: string, owner: number): string {
    const { uid } = this.#asker.io;
    const account = ownerOf(this.#root);
    if (path === '/') return this.#by([owner], 'chown root /');
    const isOurs = uid === 0 || account === uid;
    if (path === this.#root || !isOurs || owner === account) {
      const as = path === this.#root ? owner : account;
      return `sudo -u '#${as}' ${this.#asker.command} --root ${word(this.#root)}`;
    }
    if (isAbove(path, this.#root)) return this.#move(path);
    if (path.startsWith(`${this.#root}/`))
      return this.#by([owner], `chown ${account || 'root'} ${word(path)}`);
    // Outside the root only the key is checked.
    const inside = join(this.#root, 'mkey');
    const copy = `install -m 600 ${word(this.#key)} ${word(inside)} && `;
    return `${look(inside) === undefined ? copy : ''}unset RUNNER_MKEY_FILE`;
  }

  /** Moves the root out of a folder whose owner could replace it. */
  #move(folder: string): string {
    const place = join(dirname(folder), basename(this.#root));
    let free = place;
    for (let number = 2; look(free) !== undefined; number += 1) free = `${place}-${number}`;
    const owners = [ownerOf(dirname(this.#root)), ownerOf(dirname(folder)), ownerOf(this.#root)];
    const mv = this.#by(owners, `mv ${word(this.#root)} ${word(free)}`);
    return `${mv} && ${this.#withRoot(free)}`;
  }

  /** Names the root as it was named, by option or environment. */
  #withRoot(root: string): string {
    const { command, rootNamed } = this.#asker;
    return rootNamed ? `${command} --root ${word(root)}` : `export RUNNER_ROOT=${word(root)}`;
  }

  /** With sudo, if another user owns any of it. */
  #by(owners: readonly (number | undefined)[], ...commands: string[]): string {
    const { uid } = this.#asker.io;
    const may = uid === 0 || owners.every((owner) => owner === uid);
    return commands.map((command) => (may ? command : `sudo ${command}`)).join(' && ');
  }
}

function ownerOf(path: string): number | undefined {
  return look(path)?.uid;
}
