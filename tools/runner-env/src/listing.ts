/** What the commands print of secrets: never a value. */

import { ALL, PREVIEWS } from '@runner/common/app-secrets/file';
import {
  type AppSecret,
  isRedactable,
  openSecrets,
  secretFingerprint,
} from '@runner/common/app-secrets/open';
import { previewsRunWith } from '@runner/common/app-secrets/previews';
import { requireApp } from '@runner/common/apps/store';
import type { Io } from '@runner/common/foundation/io';
import type { Paths } from '@runner/common/foundation/paths';

/** One secret, as `--json` prints it. */
export interface ListedSecret {
  name: string;
  /** `*` for all instances. */
  instance: string;
  fingerprint: string;
  changed_at: string;
  changed_by: string;
  /** Whether the value is replaced in logs and messages. */
  redacted: boolean;
  /** Whether what runs was started with this value. */
  applied: boolean;
}

export type SecretList = ReturnType<typeof listSecrets>;

/** Lists the secrets of an app. Throws `app_not_found`, and what opening them throws. */
export function listSecrets(
  { io, paths }: { readonly io: Io; readonly paths: Paths },
  name: string,
) {
  const { app, instances } = requireApp(paths, name);
  const opened = openSecrets(paths, io.env, app);
  const { file } = opened;
  const active = Object.entries(instances).flatMap(([each, { current }]) =>
    current ? [each] : [],
  );
  const isApplied = (secret: AppSecret) => {
    if (secret.instance === PREVIEWS) return previewsRunWith({ io, paths }, app, secret);
    const concerned = active.filter((each) =>
      opened
        .today(each)
        .some((own) => own.name === secret.name && own.instance === secret.instance),
    );
    return (
      concerned.length > 0 &&
      concerned.every((each) => {
        const ran = opened.started(each).find((own) => own.name === secret.name);
        return ran?.value.reveal() === secret.value.reveal();
      })
    );
  };
  const secrets = file
    ? opened.all.map(
        (secret): ListedSecret => ({
          name: secret.name,
          instance: secret.instance,
          fingerprint: secretFingerprint(file, secret),
          changed_at: secret.changed_at,
          changed_by: secret.changed_by,
          redacted: !secret.plain && isRedactable(secret.value.reveal()),
          applied: isApplied(secret),
        }),
      )
    : [];
  return { app, count: secrets.length, secrets };
}

/** Of an instance, in words; nothing for all of them. */
export function scopeWords(instance: string): string {
  if (instance === PREVIEWS) return ' for previews';
  return instance === ALL ? '' : ` for the instance ${instance}`;
}
