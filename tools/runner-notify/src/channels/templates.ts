/** Which of the user's templates can be used. */

import { CHANNEL_NAMES } from '@runner/common/config/channels';
import type { Config } from '@runner/common/config/file';
import { type NotifySettings, placeOf, type TemplateKind } from '@runner/common/config/settings';
import { failureIn } from '@runner/common/foundation/attempt';
import { Failure } from '@runner/common/foundation/failure';
import { parseTemplate } from '../message/template.ts';
import { CHANNELS } from './index.ts';

const KINDS: readonly TemplateKind[] = ['started', 'success', 'failure', 'rollback'];

/** The templates that can be used, as `failure.telegram`; of each invalid one `report` gets a `config_invalid`. */
export function checkTemplates(
  config: Config,
  settings: NotifySettings,
  report: (invalid: Failure) => void,
): string[] {
  const names = KINDS.flatMap((kind) => CHANNEL_NAMES.map((channel) => ({ kind, channel })));
  return names.flatMap(({ kind, channel }) => {
    const template = settings.template(kind, channel);
    if (template === undefined) return [];
    const failure = failureIn(() => parseTemplate(template, CHANNELS[channel].codeEscapes));
    if (!failure) return [`${kind}.${channel}`];
    const path = ['notify', 'templates', kind, channel];
    const words = `${placeOf(config, path)}: ${failure.message}`;
    report(new Failure('config_invalid', words, { key: path.join('.') }));
    return [];
  });
}

/** What is printed of an invalid template where messages go out anyway. */
export function templateWarning({ message }: Failure): string {
  return `${message}; the built-in text is sent`;
}
