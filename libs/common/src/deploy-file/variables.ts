/** Variables of an instance in the addresses of `.deploy.yml`. */
type InstanceVariables = Readonly<Record<string, string>>;

/** `${NAME}`, and `$NAME` in capitals: `$filter` is an ordinary part of an address. */
const VARIABLE = /\$(?:\{([^}]*)\}|([A-Z_][A-Z0-9_]*))/g;

/** Replaces the variables of a text by their values; unknown ones by nothing, as in a shell. */
export function expand(text: string, env: InstanceVariables): string {
  return text.replace(VARIABLE, (_, braced?: string, bare?: string) => {
    const name = braced ?? bare ?? '';
    return Object.hasOwn(env, name) ? (env[name] as string) : '';
  });
}

/** The first variable of a text that is not set, as written. */
export function unsetIn(text: string, env: InstanceVariables): string | undefined {
  const all = [...text.matchAll(VARIABLE)];
  return all.find(([, braced, bare]) => !Object.hasOwn(env, braced ?? bare ?? ''))?.[0];
}
