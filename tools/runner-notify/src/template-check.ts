/** Checks the users' own wording before a deploy is to be announced with it. */

import { Failure } from '@runner/common/failure';
import type { ChannelName, NotifySettings, TemplateKind } from '@runner/common/settings';
import { CHANNEL_NAMES } from './selection.ts';
import { parseTemplate } from './template.ts';

const KINDS: readonly TemplateKind[] = ['started', 'success', 'failure', 'rollback'];

/** Whether a backslash is an escape inside code as well: in Telegram's markup it is. */
const CODE_ESCAPES: Readonly<Record<ChannelName, boolean>> = { telegram: true, discord: false };

/** The templates that are set, as `failure.telegram`. Throws `config_invalid` naming the first that is wrong. */
export function checkTemplates(settings: NotifySettings, file: string): string[] {
  const names = KINDS.flatMap((kind) => CHANNEL_NAMES.map((channel) => ({ kind, channel })));
  return names.flatMap(({ kind, channel }) => {
    const template = settings.template(kind, channel);
    if (template === undefined) return [];
    try {
      parseTemplate(template, CODE_ESCAPES[channel]);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      const key = `notify.templates.${kind}.${channel}`;
      throw new Failure('config_invalid', `${file}: ${key}: ${error.message}`, { key });
    }
    return [`${kind}.${channel}`];
  });
}
