/** How long an operation spends in each of its stages. */
import type { Io } from '@runner/common/foundation/io';
import type { Stage } from '../run/step.ts';

/** Measures from its making, or from `ago` milliseconds before; begins in the stage `fetch`. */
export class StageClock {
  readonly #io: Pick<Io, 'elapsed'>;
  readonly #spent = new Map<string, number>();
  readonly #began: number;
  #entered: number;
  #ended: number | undefined;
  #now: Stage = 'fetch';

  constructor(io: Pick<Io, 'elapsed'>, ago = 0) {
    this.#io = io;
    this.#began = io.elapsed() - ago;
    this.#entered = this.#began;
  }

  /** In milliseconds. */
  get total(): number {
    return Math.round((this.#ended ?? this.#io.elapsed()) - this.#began);
  }

  /** The time that is recorded is the time that is printed. */
  stop(): void {
    this.#ended ??= this.#io.elapsed();
  }

  enter(stage: Stage): void {
    this.#leave();
    this.#now = stage;
  }

  /**
   * In the order they began; the same stage of several instances counts as one. Empty if none was
   * entered.
   */
  steps(): { stage: string; ms: number }[] {
    if (this.#spent.size === 0) return [];
    this.#leave();
    return [...this.#spent].map(([stage, ms]) => ({ stage, ms: Math.round(ms) }));
  }

  #leave(): void {
    const now = this.#io.elapsed();
    this.#spent.set(this.#now, (this.#spent.get(this.#now) ?? 0) + now - this.#entered);
    this.#entered = now;
  }
}
