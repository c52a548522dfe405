/** The text of a systemd unit that runs an app. */

/** What a unit runs. */
export interface UnitSettings {
  readonly app: string;
  readonly user: string;
  /** The folder of the instance or slot, or a pattern with `%I`. */
  readonly folder: string;
  readonly umask: string;
  /** Whether there is a file with PORT and RUNNER_SLOT; `-`: not for all units of the template. */
  readonly slots: '' | '-' | false;
  /** Whether a socket that a crash left has to go. */
  readonly socket: boolean;
  /** File with the secrets; undefined: in drop-ins. */
  readonly secrets: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  readonly command: string;
}

export function unitText(unit: UnitSettings): string {
  const { app, user, folder, umask, slots, socket, command } = unit;
  const lines = [
    `# Made by \`runner setup ${app}\`.`,
    '[Unit]',
    `Description=${app}, deployed by runner`,
    'After=network.target',
    '',
    '[Service]',
    `User=${user}`,
    `UMask=${umask}`,
    'LimitCORE=0',
    `WorkingDirectory=${folder}/current`,
    ...environmentLines(unit),
    ...(slots === false ? [] : [`EnvironmentFile=${slots}${folder}/env`]),
    ...(socket ? ['ExecStartPre=rm -f ${PORT}'] : []),
    `ExecStart=${command}`,
    'Restart=on-failure',
    '',
    '[Install]',
    'WantedBy=multi-user.target',
  ];
  return `${lines.join('\n')}\n`;
}

/** What differs for one of the units of a template. */
export function dropInText(app: string, own: Pick<UnitSettings, 'env' | 'secrets'>): string {
  return `# Made by \`runner setup ${app}\`.\n[Service]\n${environmentLines(own).join('\n')}\n`;
}

function environmentLines({ env, secrets }: Pick<UnitSettings, 'env' | 'secrets'>): string[] {
  const variables = Object.entries(env).map(
    ([name, value]) => `Environment=${quoted(`${name}=${value}`)}`,
  );
  // An app without secrets has no such file.
  return [...variables, ...(secrets === undefined ? [] : [`EnvironmentFile=-${secrets}`])];
}

/** A value for systemd: one word, without its specifiers. */
function quoted(text: string): string {
  const escaped = text.replaceAll('%', '%%');
  if (/^[\w@:.,=/%+-]+$/.test(escaped)) return escaped;
  const inside = escaped
    .replace(/[\\"]/g, '\\$&')
    .replace(
      /[\x00-\x1f\x7f]/g,
      (each) => `\\x${each.charCodeAt(0).toString(16).padStart(2, '0')}`,
    );
  return `"${inside}"`;
}

/** `ExecStart=` for a shell command: through a shell only where it needs one, which alone knows `exec`. */
export function execStart(command: string): string {
  const plain = command.trim().replace(/^exec +/, '');
  if (/^[\w@:.,=/ +-]+$/.test(plain))
    return plain.startsWith('/') ? plain : `/usr/bin/env ${plain}`;
  // `$` is a variable of systemd as well.
  return `/bin/sh -c ${quoted(command).replaceAll('$', '$$$$')}`;
}
