/** The way to the broker. Bundled into dist/lib/nats.cjs with the NATS client. */
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { readIfThere } from '@runner/common/files/read';
import { Failure } from '@runner/common/foundation/failure';
import type { BrokerAddress } from '../files/broker-address.ts';
import { Broker, TIMEOUT } from './broker.ts';
import { connectionFailure } from './failure.ts';
import { authenticator } from './login.ts';

export type { Broker, Stored } from './broker.ts';
export { comparedWith } from './inspection.ts';
export { loginKeyOf, monitorSeed, newLogin } from './login.ts';

/** Between two heartbeats of the connection, in ms. */
const PING_INTERVAL = 5_000;
/** Of a file of certificates, in bytes. */
const CA_MAX = 1_048_576;

export interface BrokerLogin extends BrokerAddress {
  readonly seed: string;
  /** Shown by the broker's monitoring. */
  readonly name: string;
  /** Prefix of the JetStream API in this account; undefined: the default. */
  readonly api?: string;
}

/** Connects. Throws `broker_unreachable`, `broker_refused`, `file_unreadable`. */
export async function openBroker(login: BrokerLogin): Promise<Broker> {
  const { url, ca, seed, name, api } = login;
  const tls = url.startsWith('tls://') && { tls: ca === undefined ? {} : { ca: authority(ca) } };
  const challenged = authenticator(seed);
  try {
    const connection = await connect({
      servers: url.replace(/^\w+:\/\//, ''),
      authenticator: challenged,
      name,
      timeout: TIMEOUT,
      pingInterval: PING_INTERVAL,
      maxPingOut: 2,
      maxReconnectAttempts: -1,
      reconnectTimeWait: 500,
      noAsyncTraces: true,
      ...tls,
    });
    const options = { timeout: TIMEOUT, ...(api !== undefined && { apiPrefix: api }) };
    const manager = await jetstreamManager(connection, { ...options, checkAPI: false });
    return new Broker(connection, jetstream(connection, options), manager);
  } catch (error) {
    throw connectionFailure(error, url);
  }
}

function authority(path: string): string {
  const bytes = readIfThere(path, CA_MAX);
  if (bytes) return bytes.toString('utf8');
  throw new Failure(
    'file_unreadable',
    `there is no ${path}: copy the broker's CA there, or change ca`,
  );
}
