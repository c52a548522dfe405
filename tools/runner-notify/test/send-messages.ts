export const FAILURE = {
  previous_version: 'v1.2.9',
  error: 'health: answered 500\n[api] *boom* `x` \\',
};

export const ROLLBACK = {
  version: 'v1.2.9',
  from_version: 'v1.3.0',
  reason: 'health: answered 500',
};
