/** Stacks that are compiled. */
import { type Clue, type CommandLine, rowsOf, type Stack } from './stack.ts';

const POM = 'pom.xml';
const GRADLE = /^build\.gradle(?:\.kts)?$/;
const MAIN = /^package main\b/m;
const inBuild = (path: string, text: RegExp): CommandLine => ({
  run: path,
  when: [{ path: /^(?:pom\.xml|build\.gradle(?:\.kts)?)$/, text }],
});
const ACTUATOR = inBuild('/actuator/health', /spring-boot-starter-actuator/);
const SMALLRYE = inBuild('/q/health', /quarkus-smallrye-health/);

const java = rowsOf('java', { port: 8080 });
/** The wrapper if the repository has it. */
const maven = (name: string, text: RegExp, start: string, more: Partial<Stack> = {}) =>
  java.server(`${name}, Maven`, { path: POM, text }, start, {
    build: ['{maven} -B -DskipTests package'],
    ...more,
  });
const gradle = (name: string, text: RegExp, start: string, more: Partial<Stack>) =>
  java.server(`${name}, Gradle`, { path: GRADLE, text }, start, more);
/** Builds with a task of Gradle. */
const task = (name: string) => ({ build: [`{gradle} ${name} --no-daemon`] });

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
  java.missing(
    'Java, Maven',
    { path: POM },
    'pom.xml makes no jar that can be started: no plugin of a framework, and no mainClass',
  ),
  gradle(
    'Spring Boot',
    /org\.springframework\.boot/,
    'java -jar build/libs/*.jar --server.address=127.0.0.1 --server.port=$PORT',
    { ...task('bootJar'), health: ACTUATOR },
  ),
  gradle(
    'Quarkus',
    /io\.quarkus/,
    'java -Dquarkus.http.host=127.0.0.1 -Dquarkus.http.port=$PORT -jar build/quarkus-app/quarkus-run.jar',
    { ...task('quarkusBuild'), health: SMALLRYE },
  ),
  gradle(
    'Ktor',
    /io\.ktor\.plugin|ktor\.plugin/,
    'java -jar build/libs/*-all.jar -host=127.0.0.1 -port=$PORT',
    task('buildFatJar'),
  ),
  java.server(
    'Java, Gradle',
    [
      { path: GRADLE, text: /\bapplication\b/ },
      {
        path: /^settings\.gradle(?:\.kts)?$/,
        text: /rootProject\.name\s{0,3}=\s{0,3}['"](?<name>[\w.-]{1,80})['"]/,
      },
    ],
    'build/install/{name}/bin/{name}',
    task('installDist'),
  ),
  java.missing(
    'Java, Gradle',
    { path: GRADLE },
    'build.gradle has no plugin of a known framework, and no plugin application',
  ),
];

const { server: goServer, missing: noGo } = rowsOf('go', { port: 8080 });
const go = (clue: Clue, from: string) =>
  goServer('Go', [{ path: 'go.mod' }, clue], './bin/app', {
    build: [`go build -o bin/app ${from}`],
  });

const GO: readonly Stack[] = [
  go({ path: /^(?:main|server|app)\.go$/, text: MAIN }, '.'),
  go({ path: /^(?<main>cmd\/(?:server|web|api|app|serve|http))\/main\.go$/ }, './{main}'),
  go({ path: /^(?<main>cmd\/[\w-]{1,60})\/main\.go$/ }, './{main}'),
  noGo('Go', { path: 'go.mod' }, 'no main package is at the top or in cmd/'),
];

const { server: rustServer, missing: noRust } = rowsOf('rust', {
  build: [
    { run: 'cargo build --release --locked', when: [{ path: 'Cargo.lock' }] },
    { run: 'cargo build --release', when: [{ path: 'Cargo.lock', not: true }] },
  ],
  port: 8080,
});
const rust = (text: RegExp) =>
  rustServer(
    'Rust',
    [{ path: 'Cargo.toml' }, { path: 'src/main.rs' }, { path: 'Cargo.toml', text }],
    './target/release/{bin}',
  );

const RUST: readonly Stack[] = [
  rust(/^default-run\s{0,3}=\s{0,3}"(?<bin>[\w-]{1,80})"/m),
  rust(/^\[\[bin\]\]\r?\nname\s{0,3}=\s{0,3}"(?<bin>[\w-]{1,80})"/m),
  rust(/^name\s{0,3}=\s{0,3}"(?<bin>[\w-]{1,80})"/m),
  noRust('Rust', { path: 'Cargo.toml' }, 'Cargo.toml has no program with a src/main.rs of its own'),
];

const DENO = /^deno\.jsonc?$/;
const [dotnet, elixir, deno] = [rowsOf('dotnet'), rowsOf('elixir'), rowsOf('deno')];

const OTHERS: readonly Stack[] = [
  dotnet.server(
    'ASP.NET',
    {
      path: /^(?<project>(?:(?:src\/)?[\w.-]{1,80}\/)?(?<name>[\w.-]{1,80})\.(?:cs|fs)proj)$/,
      text: /Microsoft\.NET\.Sdk\.Web/,
    },
    'dotnet out/{name}.dll --urls http://127.0.0.1:$PORT',
    { build: ['dotnet publish {project} -c Release -o out'], port: 5000 },
  ),
  dotnet.missing(
    '.NET',
    { path: /\.(?:cs|fs)proj$/ },
    'no project has the Sdk Microsoft.NET.Sdk.Web',
  ),
  elixir.server(
    'Phoenix',
    ['phoenix', { path: 'mix.exs', text: /\bapp: :(?<app>\w{1,60})/ }],
    '_build/prod/rel/{app}/bin/{app} start',
    {
      build: [
        'mix local.hex --force --if-missing',
        'mix local.rebar --force --if-missing',
        'mix deps.get --only prod',
        { run: 'mix assets.deploy', when: [{ path: 'mix.exs', text: /"assets\.deploy"/ }] },
        'mix release --overwrite',
      ],
      port: 4000,
      env: { MIX_ENV: 'prod', PHX_SERVER: 'true' },
      migrate: 'see mix phx.gen.release',
      notes: ['SECRET_KEY_BASE and DATABASE_URL are secrets: runner env set'],
    },
  ),
  elixir.missing(
    'Elixir',
    { path: 'mix.exs' },
    'mix.exs does not depend on Phoenix, so what listens is not known',
  ),
  deno.server('Deno', { path: DENO, text: /"start"\s{0,3}:/ }, 'deno task start', {
    build: [{ run: 'deno task build', when: [{ path: DENO, text: /"build"\s{0,3}:/ }] }],
    port: 8000,
  }),
];

/** In the order in which they are tried. */
export const COMPILED: readonly Stack[] = [...GO, ...RUST, ...JAVA, ...OTHERS];
