/** Formats of lines: Procfile, units of systemd, crontab. */
import { EntryList, type SourceEntry } from '../plan/entry.ts';

interface Line {
  readonly text: string;
  readonly line: number;
}

/** The lines that are neither empty nor a comment; one that ends with a backslash goes on. */
function linesOf(text: string, comment: RegExp, goesOn: boolean): Line[] {
  const found: Line[] = [];
  let open: Line | undefined;
  text
    .replace(/^\ufeff/, '')
    .split(/\r?\n/)
    .forEach((raw, index) => {
      if (!open && (raw.trim() === '' || comment.test(raw))) return;
      const part = open && comment.test(raw) ? '' : raw.trim();
      const continues = goesOn && part.endsWith('\\');
      const own = continues ? part.slice(0, -1).trimEnd() : part;
      open = { text: open ? `${open.text} ${own}` : own, line: open?.line ?? index + 1 };
      if (continues) return;
      found.push(open);
      open = undefined;
    });
  return open ? [...found, open] : found;
}

/** `name: command` a line; anything else is the entry `line`. */
export function procfileEntries(text: string, file: string): SourceEntry[] {
  const list = new EntryList(file);
  for (const { text: raw, line } of linesOf(text, /^\s*#/, true)) {
    const [, name, command = ''] = /^([A-Za-z0-9_-]+):\s*(.*)$/.exec(raw) ?? [];
    if (name === undefined) list.add(['line'], null, line);
    else list.add(['process', name], command, line);
  }
  return list.all;
}

/** `Section.Key`; a variable of `Environment=` is an entry of its own. */
export function unitEntries(text: string, file: string): SourceEntry[] {
  const list = new EntryList(file);
  let section = '';
  for (const { text: raw, line } of linesOf(text, /^\s*[#;]/, true)) {
    const named = /^\[([^\]]+)\]$/.exec(raw)?.[1];
    if (named !== undefined) {
      section = named;
      continue;
    }
    const [, key, value = ''] = /^([A-Za-z][\w-]*)\s*=\s*(.*)$/.exec(raw) ?? [];
    if (key === undefined || section === '') list.add(['line'], null, line);
    else if (section === 'Service' && key === 'Environment' && value !== '')
      for (const [name, own] of assignments(value)) list.add([section, key, name], own, line);
    else list.add([section, key], value, line);
  }
  return list.all;
}

/** `A=b "C=d e" F='g'` as systemd splits it. */
function assignments(text: string): [name: string, value: string][] {
  const words = text.match(/(?:"(?:[^"\\]|\\.)*"|'[^']*'|\\.|[^\s"'\\])+/g) ?? [];
  return words.map((raw) => {
    const plain = raw.replace(
      /"((?:[^"\\]|\\.)*)"|'([^']*)'/g,
      (_, a?: string, b?: string) => a ?? b ?? '',
    );
    const at = plain.indexOf('=');
    return at === -1 ? [plain, ''] : [plain.slice(0, at), plain.slice(at + 1)];
  });
}

/** Variables as `env.NAME`, every other line as `job`. */
export function crontabEntries(text: string, file: string): SourceEntry[] {
  const list = new EntryList(file);
  for (const { text: raw, line } of linesOf(text, /^\s*#/, false)) {
    const [, name, value = ''] = /^([A-Za-z_]\w*)\s*=\s*(.*)$/.exec(raw) ?? [];
    if (name === undefined) list.add(['job'], raw, line);
    else list.add(['env', name], value.replace(/^(["'])(.*)\1$/, '$2'), line);
  }
  return list.all;
}
