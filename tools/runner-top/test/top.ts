/** What the short and the long tests of top share. */

export const LEFT = '\x1b[?7h\x1b[?25h\x1b[?1049l';

export const pause = (time: number) => new Promise((resolve) => setTimeout(resolve, time));

/** The bytes that come until none has come for two ticks. */
export async function quiet(session: { raw(): string }): Promise<number> {
  for (let length = -1; length !== session.raw().length; await pause(2_200))
    length = session.raw().length;
  return session.raw().length;
}
