/** Reads what a server signed over time, with the key it has and those it had before it was set up again. */
import type { FleetServer } from '../files/operator.ts';
import { signedText, type Use } from '../order/seal.ts';

export class ServerKeys {
  private readonly server: string;
  private readonly keys: readonly string[];
  /** How many keys were replaced so far. Each begins its own chain. */
  replaced = 0;

  constructor({ server, key, former = [] }: FleetServer) {
    this.server = server;
    this.keys = [...former, key];
  }

  /** The text of the next message; undefined if it is forged. After a key, the ones before it are no longer valid. */
  next(use: Use, text: string): string | undefined {
    const { server } = this;
    for (const [index, key] of this.keys.entries()) {
      const body = index < this.replaced ? undefined : signedText(use, text, { server, key });
      if (body === undefined) continue;
      this.replaced = index;
      return body;
    }
    return undefined;
  }
}
