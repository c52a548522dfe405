/** What the short and the long tests of seams share. */
import { request } from '@runner/testing/traffic-proxy';

/** '' if no one answers. */
export const versionAt = async (port: number) => (await request(port)).version;
