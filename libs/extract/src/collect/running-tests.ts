/** Knows which lines a test printed, for runners that say at its end whether it passed. */
import type { Candidate } from '../line/row.ts';

/** Tests whose lines are remembered until they end, and lines remembered of one. */
const RUNNING = 16;
const SAID = 6;

const BEGINS = /^(?:=== (?:RUN|CONT|NAME) {1,3}|# Subtest: |\[ RUN {6}\] )(\S{1,300})/;
const PASSES = /^(?:--- PASS: |\[ {7}OK \] )(\S{1,300})/;

/** The tests of one speaker that have begun and not yet ended. */
export interface RunningTests {
  /** Notes that the running test, if any, printed this. */
  said(candidate: Candidate): void;
  /** Looks whether a line begins a test or says that one passed. */
  follow(trimmed: string): void;
}

/** No test has begun. */
export function createRunningTests(): RunningTests {
  const running = new Map<string, Candidate[]>();
  let now: Candidate[] | undefined;
  return {
    said(candidate) {
      if (now !== undefined && now.length < SAID) now.push(candidate);
    },
    follow(trimmed) {
      const first = trimmed[0];
      if (first !== '=' && first !== '-' && first !== '[' && first !== '#') return;
      const begun = BEGINS.exec(trimmed)?.[1];
      if (begun !== undefined) {
        now = running.get(begun) ?? [];
        running.set(begun, now);
        const oldest = running.keys().next().value;
        if (running.size > RUNNING && oldest !== undefined) running.delete(oldest);
        return;
      }
      const passed = PASSES.exec(trimmed)?.[1];
      if (passed === undefined) return;
      for (const candidate of running.get(passed) ?? []) candidate.passed = true;
      if (running.get(passed) === now) now = undefined;
      running.delete(passed);
    },
  };
}
