/** How long a deploy spends in each of its stages. */
import type { Io } from '@runner/common/foundation/io';
import type { Stage } from '../run/step.ts';

/** Measures from `began`, the beginning of the stage `fetch`, after which `stage` begins. */
export class StageClock {
  readonly #io: Pick<Io, 'elapsed'>;
  readonly #spent = new Map<string, number>();
  #entered: number;
  #now: Stage;

  constructor(io: Pick<Io, 'elapsed'>, began: number, stage: Stage) {
    this.#io = io;
    this.#entered = io.elapsed();
    this.#now = stage;
    this.#spent.set('fetch', this.#entered - began);
  }

  get now(): Stage {
    return this.#now;
  }

  enter(stage: Stage): void {
    this.#leave();
    this.#now = stage;
  }

  /** In the order they began; the same stage of several instances counts as one. */
  steps(): { stage: string; ms: number }[] {
    this.#leave();
    return [...this.#spent].map(([stage, ms]) => ({ stage, ms: Math.round(ms) }));
  }

  #leave(): void {
    const now = this.#io.elapsed();
    this.#spent.set(this.#now, (this.#spent.get(this.#now) ?? 0) + now - this.#entered);
    this.#entered = now;
  }
}
