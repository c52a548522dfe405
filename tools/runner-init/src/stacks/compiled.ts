/** Stacks that are compiled. */
import type { Clue, CommandLine, Stack } from './stack.ts';

const POM = 'pom.xml';
const GRADLE = /^build\.gradle(?:\.kts)?$/;
const MAIN = /^package main\b/m;
const inBuild = (path: string, text: RegExp): CommandLine => ({
  run: path,
  when: [{ path: /^(?:pom\.xml|build\.gradle(?:\.kts)?)$/, text }],
});
const ACTUATOR = inBuild('/actuator/health', /spring-boot-starter-actuator/);
const SMALLRYE = inBuild('/q/health', /quarkus-smallrye-health/);

/** The wrapper if the repository has it. */
const maven = (name: string, text: RegExp, start: string, more: Partial<Stack> = {}): Stack => ({
  name: `${name}, Maven`,
  language: 'java',
  when: [{ path: POM, text }],
  build: ['{maven} -B -DskipTests package'],
  start,
  port: 8080,
  ...more,
});

const gradle = (name: string, text: RegExp, task: string, rest: Partial<Stack>): Stack => ({
  name: `${name}, Gradle`,
  language: 'java',
  when: [{ path: GRADLE, text }],
  build: [`{gradle} ${task} --no-daemon`],
  port: 8080,
  ...rest,
});

const JAVA: readonly Stack[] = [
  maven(
    'Spring Boot',
    /spring-boot-maven-plugin/,
    'java -jar target/*.jar --server.address=127.0.0.1 --server.port=$PORT',
    { health: ACTUATOR },
  ),
  maven(
    'Quarkus',
    /quarkus-maven-plugin/,
    'java -Dquarkus.http.host=127.0.0.1 -Dquarkus.http.port=$PORT -jar target/quarkus-app/quarkus-run.jar',
    { health: SMALLRYE },
  ),
  maven(
    'Micronaut',
    /micronaut-maven-plugin/,
    'java -Dmicronaut.server.host=127.0.0.1 -Dmicronaut.server.port=$PORT -jar target/*.jar',
    { health: inBuild('/health', /micronaut-management/) },
  ),
  maven('Java', /<mainClass>/, 'java -jar target/*.jar'),
  {
    name: 'Java, Maven',
    language: 'java',
    when: [{ path: POM }],
    missing: 'pom.xml makes no jar that can be started: no plugin of a framework, and no mainClass',
  },
  gradle('Spring Boot', /org\.springframework\.boot/, 'bootJar', {
    start: 'java -jar build/libs/*.jar --server.address=127.0.0.1 --server.port=$PORT',
    health: ACTUATOR,
  }),
  gradle('Quarkus', /io\.quarkus/, 'quarkusBuild', {
    start:
      'java -Dquarkus.http.host=127.0.0.1 -Dquarkus.http.port=$PORT -jar build/quarkus-app/quarkus-run.jar',
    health: SMALLRYE,
  }),
  gradle('Ktor', /io\.ktor\.plugin|ktor\.plugin/, 'buildFatJar', {
    start: 'java -jar build/libs/*-all.jar -host=127.0.0.1 -port=$PORT',
  }),
  {
    name: 'Java, Gradle',
    language: 'java',
    when: [
      { path: GRADLE, text: /\bapplication\b/ },
      {
        path: /^settings\.gradle(?:\.kts)?$/,
        text: /rootProject\.name\s{0,3}=\s{0,3}['"](?<name>[\w.-]{1,80})['"]/,
      },
    ],
    build: ['{gradle} installDist --no-daemon'],
    start: 'build/install/{name}/bin/{name}',
    port: 8080,
  },
  {
    name: 'Java, Gradle',
    language: 'java',
    when: [{ path: GRADLE }],
    missing: 'build.gradle has no plugin of a known framework, and no plugin application',
  },
];

const go = (clue: Clue, from: string): Stack => ({
  name: 'Go',
  language: 'go',
  when: [{ path: 'go.mod' }, clue],
  build: [`go build -o bin/app ${from}`],
  start: './bin/app',
  port: 8080,
});

const GO: readonly Stack[] = [
  go({ path: /^(?:main|server|app)\.go$/, text: MAIN }, '.'),
  go({ path: /^(?<main>cmd\/(?:server|web|api|app|serve|http))\/main\.go$/ }, './{main}'),
  go({ path: /^(?<main>cmd\/[\w-]{1,60})\/main\.go$/ }, './{main}'),
  {
    name: 'Go',
    language: 'go',
    when: [{ path: 'go.mod' }],
    missing: 'no main package is at the top or in cmd/',
  },
];

const rust = (clue: Clue): Stack => ({
  name: 'Rust',
  language: 'rust',
  when: [{ path: 'Cargo.toml' }, { path: 'src/main.rs' }, clue],
  build: [
    { run: 'cargo build --release --locked', when: [{ path: 'Cargo.lock' }] },
    { run: 'cargo build --release', when: [{ path: 'Cargo.lock', not: true }] },
  ],
  start: './target/release/{bin}',
  port: 8080,
});

const RUST: readonly Stack[] = [
  rust({ path: 'Cargo.toml', text: /^default-run\s{0,3}=\s{0,3}"(?<bin>[\w-]{1,80})"/m }),
  rust({ path: 'Cargo.toml', text: /^\[\[bin\]\]\r?\nname\s{0,3}=\s{0,3}"(?<bin>[\w-]{1,80})"/m }),
  rust({ path: 'Cargo.toml', text: /^name\s{0,3}=\s{0,3}"(?<bin>[\w-]{1,80})"/m }),
  {
    name: 'Rust',
    language: 'rust',
    when: [{ path: 'Cargo.toml' }],
    missing: 'Cargo.toml has no program with a src/main.rs of its own',
  },
];

const OTHERS: readonly Stack[] = [
  {
    name: 'ASP.NET',
    language: 'dotnet',
    when: [
      {
        path: /^(?<project>(?:(?:src\/)?[\w.-]{1,80}\/)?(?<name>[\w.-]{1,80})\.(?:cs|fs)proj)$/,
        text: /Microsoft\.NET\.Sdk\.Web/,
      },
    ],
    build: ['dotnet publish {project} -c Release -o out'],
    start: 'dotnet out/{name}.dll --urls http://127.0.0.1:$PORT',
    port: 5000,
  },
  {
    name: '.NET',
    language: 'dotnet',
    when: [{ path: /\.(?:cs|fs)proj$/ }],
    missing: 'no project has the Sdk Microsoft.NET.Sdk.Web',
  },
  {
    name: 'Phoenix',
    language: 'elixir',
    when: [{ dep: 'phoenix' }, { path: 'mix.exs', text: /\bapp: :(?<app>\w{1,60})/ }],
    build: [
      'mix local.hex --force --if-missing',
      'mix local.rebar --force --if-missing',
      'mix deps.get --only prod',
      { run: 'mix assets.deploy', when: [{ path: 'mix.exs', text: /"assets\.deploy"/ }] },
      'mix release --overwrite',
    ],
    start: '_build/prod/rel/{app}/bin/{app} start',
    port: 4000,
    env: { MIX_ENV: 'prod', PHX_SERVER: 'true' },
    migrate: 'see mix phx.gen.release',
    notes: ['SECRET_KEY_BASE and DATABASE_URL are secrets: runner env set'],
  },
  {
    name: 'Elixir',
    language: 'elixir',
    when: [{ path: 'mix.exs' }],
    missing: 'mix.exs does not depend on Phoenix, so what listens is not known',
  },
  {
    name: 'Deno',
    language: 'deno',
    when: [{ path: /^deno\.jsonc?$/, text: /"start"\s{0,3}:/ }],
    build: [
      { run: 'deno task build', when: [{ path: /^deno\.jsonc?$/, text: /"build"\s{0,3}:/ }] },
    ],
    start: 'deno task start',
    port: 8000,
  },
];

/** In the order in which they are tried. */
export const COMPILED: readonly Stack[] = [...GO, ...RUST, ...JAVA, ...OTHERS];
