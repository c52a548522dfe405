/** What every channel can tell about itself: the other half of the contract in channel.ts. */
import type { Problem } from './channel.ts';
import type { Fields } from './fields.ts';

/** What a service says about a destination. */
export interface Inspection {
  /** Messages can be expected to arrive. */
  readonly healthy: boolean;
  /** What the service told, by name; for `runner notify status`. */
  readonly facts: Fields;
  /** What somebody should change, as sentences. */
  readonly advice: readonly string[];
  /** What kept the service from answering. */
  readonly problem?: Problem;
}

/** How a test notification ended. */
export type Trial =
  | {
      readonly delivered: true;
      readonly method: string;
      readonly httpStatus: number;
      /** What the service said about the message, without anything secret. */
      readonly answer: Fields;
      /** The destination's id since it moved. */
      readonly movedTo?: string;
    }
  | { readonly delivered: false; readonly problem: Problem };

/** Asks a service about one destination. Never throws for what a service does. */
export interface Probe {
  /** Changes nothing and sends no message. */
  inspect(): Promise<Inspection>;
  /** Sends one test notification, once. */
  sendTest(): Promise<Trial>;
}

/** The words of a test notification. */
export const TEST_TITLE = 'Test notification';
/** Its one sentence. */
export const TEST_TEXT = 'The runner announces its deploys here.';
