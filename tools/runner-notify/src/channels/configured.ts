/** config.yml as this tool uses it: which destinations are active, what is secret, and connecting. */
import {
  CHANNEL_NAMES,
  type ChannelName,
  channelsOf,
  type DestinationName,
} from '@runner/common/config/channels';
import { chatSecretsOf } from '@runner/common/config/chat-credentials';
import { type Config, readConfig } from '@runner/common/config/file';
import {
  activeChannels,
  NO_CHANNEL,
  type NotifySettings,
  notifySettingsOf,
  placeOf,
  SET_UP,
  type TemplateKind,
} from '@runner/common/config/settings';
import { type TelemetrySettings, telemetryOf } from '@runner/common/config/telemetry';
import { isTelemetry } from '@runner/common/config/telemetry-schema';
import { failureIn } from '@runner/common/foundation/attempt';
import { Failure } from '@runner/common/foundation/failure';
import type { Server } from '@runner/common/foundation/paths';
import { redactor } from '@runner/common/secrets/redactor';
import { digestOf, Secret } from '@runner/common/secrets/secret';
import type { Tree } from '@runner/common/yaml/schema';
import { parseTemplate } from '../message/template.ts';
import type { Channel, Credentials, RequestLine } from '../service/contract.ts';
import { codeHostChannel } from './code-host/code-host.ts';
import { CHANNELS } from './index.ts';
import { connectTelemetry } from './telemetry/telemetry.ts';

/** The text of a value, the texts of a list; undefined when it is not there. */
function textAt(tree: Tree | undefined, path: readonly string[]): string | undefined {
  const [key, ...rest] = path;
  if (key !== undefined) {
    const entry = tree?.kind === 'map' ? tree.entries.find((each) => each.key === key) : undefined;
    return textAt(entry?.value, rest);
  }
  if (tree?.kind === 'list') return tree.items.map((each) => textAt(each, []) ?? '').join(', ');
  if (tree?.kind !== 'scalar' || tree.value === null) return undefined;
  return (typeof tree.value === 'string' ? tree.value : tree.source).trim();
}

/** A redactor that knows all credentials, and their parts that are secret on their own. */
export function redactorOf(
  credentials: Credentials,
  others: readonly Secret[] = [],
): (text: string) => string {
  const secrets = Object.values(CHANNELS)
    .flatMap((service) => service.secretsOf(credentials))
    .filter((text) => text !== '')
    .map((text) => new Secret(text));
  return redactor([...secrets, ...others]);
}

const KINDS: readonly TemplateKind[] = ['started', 'success', 'failure', 'rollback'];

/** Throws `config_invalid`, `insecure_address` or `file_unreadable`. */
export class Configured {
  readonly settings: NotifySettings;
  /** Channels whose credentials are set and that the global `notify.channel` includes. */
  readonly active: readonly ChannelName[];
  readonly config: Config;
  readonly #server: Server;
  /** Aborts every request. */
  readonly #signal: AbortSignal | undefined;
  #telemetry: TelemetrySettings | undefined;
  #redact: RequestLine['redact'] | undefined;

  constructor(server: Server, config = readConfig(server.paths), signal?: AbortSignal) {
    this.#server = server;
    this.#signal = signal;
    this.config = config;
    this.settings = notifySettingsOf(config, server.io.env);
    this.active = activeChannels(this.settings);
  }

  /** Throws `config_invalid` or `insecure_address` when it is first used. */
  get telemetry(): TelemetrySettings {
    this.#telemetry ??= telemetryOf(this.config);
    return this.#telemetry;
  }

  /** Knows every credential of the file. */
  readonly redact = (text: string): string => {
    this.#redact ??= redactorOf(this.settings, chatSecretsOf(this.config));
    return this.#redact(text);
  };

  /** Whether anything is delivered there. */
  isActive(name: DestinationName): boolean {
    if (isTelemetry(name)) return this.telemetry[name] !== undefined;
    return name === 'code-host' ? this.settings.commitStatus : this.active.includes(name);
  }

  /** A credential in section `notify`, else at the top level; empty when it is not set. */
  credentialAt(key: string): string {
    const path = key.split('.');
    const found = [['notify', ...path], path].map((each) => textAt(this.config.tree, each));
    return found.find((text) => text !== undefined) ?? '';
  }

  /** The credentials of a channel that are not set. */
  missingOf(name: ChannelName): string[] {
    return CHANNELS[name].credentials.filter((key) => this.credentialAt(key) === '');
  }

  /** Identifies a destination without revealing a secret: its saved state belongs to this digest. */
  digest(name: DestinationName): string {
    if (isTelemetry(name)) {
      const { url = '', headers = {}, org = '' } = this.telemetry[name] ?? {};
      const values = Object.values(headers).map((each) => each.reveal());
      return digestOf(new Secret([url, org, ...values].join('\n')));
    }
    // The code host of each app: one destination.
    const identity = name === 'code-host' ? name : CHANNELS[name].identityOf(this.settings);
    return digestOf(new Secret(identity));
  }

  /** The templates that can be used, as `failure.telegram`; of each invalid one `report` gets a `config_invalid`. */
  templates(report: (invalid: Failure) => void): string[] {
    const names = KINDS.flatMap((kind) => CHANNEL_NAMES.map((channel) => ({ kind, channel })));
    return names.flatMap(({ kind, channel }) => {
      const template = this.settings.template(kind, channel);
      if (template === undefined) return [];
      const failure = failureIn(() => parseTemplate(template, CHANNELS[channel].codeEscapes));
      if (!failure) return [`${kind}.${channel}`];
      const path = ['notify', 'templates', kind, channel];
      const words = `${placeOf(this.config, path)}: ${failure.message}`;
      report(new Failure('config_invalid', words, { key: path.join('.') }));
      return [];
    });
  }

  /** The same where messages go out anyway: prints what is wrong. */
  usableTemplates(note: (text: string) => void): string[] {
    return this.templates(({ message }) => note(`${message}; the built-in text is sent`));
  }

  /** What a request needs, redacted with all credentials. */
  line(): RequestLine {
    return { env: this.#server.io.env, redact: this.redact, signal: this.#signal };
  }

  /** Undefined when the credentials of the destination are not set. */
  connect(name: DestinationName): Channel | undefined {
    if (name === 'code-host') return codeHostChannel(this.#server, this.redact);
    if (isTelemetry(name)) return connectTelemetry(name, this.telemetry, this.line());
    return CHANNELS[name].connect(this.settings, this.line());
  }

  /** One sentence on `wanted` channels of which none is active: the first key in the way, else what to run. */
  whyInactive(wanted: readonly ChannelName[] = CHANNEL_NAMES): string {
    const [only] = wanted;
    const none = wanted.length === 1 ? `${only} is not active` : NO_CHANNEL;
    const file = this.config.file.name;
    const { settings } = this;
    const { channel } = settings;
    const ready = wanted.find((name) => settings[name] !== undefined);
    if (ready !== undefined && channel !== undefined) {
      const named = channelsOf(channel);
      const [first] = named;
      const missing =
        first === undefined || settings[first] ? '' : `, and ${notSet(this.missingOf(first))}`;
      const said = [channel].flat().join(', ') || 'an empty list';
      const both = channelsOf('both').includes(ready) && named.length === 1 ? ' or both' : '';
      return `${none}: notify.channel is ${said}${missing}; set notify.channel to ${ready}${both} in ${file}`;
    }
    const half = wanted.find((name) => {
      const count = this.missingOf(name).length;
      return count > 0 && count < CHANNELS[name].credentials.length;
    });
    if (half !== undefined) return `${none}: ${notSet(this.missingOf(half))} in ${file}`;
    return `${none}: ${SET_UP}, or see section notify of ${file}`;
  }
}

function notSet(keys: readonly string[]): string {
  return `${keys.join(' and ')} ${keys.length === 1 ? 'is' : 'are'} not set`;
}
