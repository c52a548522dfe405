/** The command to type for an ordinary user of an installed server, who may not read its files. */
import { statSync } from 'node:fs';
import { type Failure, systemCode } from '../foundation/failure.ts';
import type { Io } from '../foundation/io.ts';
import { chooseRoot } from '../foundation/paths.ts';
import { word } from '../text/shell.ts';

/** `; use: sudo runner deploy shop`; '' if the failure is another one, or the root is this user's. */
export function sudoHint(io: Io, title: string, args: readonly string[], error: Failure): string {
  const isDenied = error.code === 'file_unreadable' || error.code === 'not_writable';
  if (!isDenied || systemCode(error.cause) !== 'EACCES' || io.uid === 0) return '';
  const at = args.indexOf('--root');
  const named = args.find((each) => each.startsWith('--root='))?.slice('--root='.length);
  const option = named ?? (at < 0 ? undefined : args[at + 1]);
  const root = chooseRoot(option, io.env, () => io.cwd);
  const owner = statSync(root, { throwIfNoEntry: false })?.uid;
  if (owner === undefined || owner === io.uid) return '';
  const { path = '' } = error.cause as NodeJS.ErrnoException;
  const isIn = (folder: string) => path.startsWith(`${folder}/`);
  // sudo becomes the owner of the root, who may not read or write what is the caller's own.
  if (isIn(io.cwd) && !isIn(root)) return '';
  // sudo drops RUNNER_ROOT.
  const own = option === undefined && io.env.RUNNER_ROOT ? ['--root', root] : [];
  const holdsSecret = args.some((each) => /^--token(?:=|$)/.test(each));
  return `; use: sudo ${[title, ...[...(holdsSecret ? [] : args), ...own].map(word)].join(' ')}`;
}
