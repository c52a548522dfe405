/** What an error of the NATS client means. */
import { Failure } from '@runner/common/foundation/failure';

/** `broker_unreachable` or `broker_refused`; what is not an error is returned as it is. */
export function connectionFailure(error: unknown, url: string): unknown {
  if (!(error instanceof Error)) return error;
  const host = url.replace(/^\w+:\/\//, '');
  const { name, message } = error;
  if (/^(Authorization|UserAuthentication)/.test(name) || /authorization/i.test(message)) {
    const why = 'not added yet, or removed, or the configuration was not loaded';
    return new Failure('broker_refused', `${host} does not know this key: ${why}`, {}, error);
  }
  const why = /certificate|self.signed|altname/i.test(message) ? `: ${message}` : '';
  return new Failure('broker_unreachable', `${host} does not answer${why}`, {}, error);
}
