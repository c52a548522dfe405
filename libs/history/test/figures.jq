# The figures of `runner stats --json`, counted a second time from the records of a log:
#   jq --slurp --arg since TIME --arg until TIME --from-file figures.jq deploy-events.jsonl
def ms:
  capture("^(?<day>.{10})T(?<clock>.{8})[.](?<part>[0-9]{3})(?<zone>Z|[+-][0-9:]{5})$")
  | (.zone | if . == "Z" then 0
      else (.[1:3] | tonumber) * 60 + (.[4:6] | tonumber) | . * 60000 end) as $offset
  | ("\(.day)T\(.clock)Z" | fromdateiso8601 * 1000) + (.part | tonumber)
    + (if .zone[0:1] == "-" then $offset else -$offset end);
def nearest($part): sort | if length == 0 then null else .[[0, (length * $part / 100 | ceil) - 1] | max] end;
def seconds: if . == null then null else . / 1000 end;
def four: (. * 10000 | round) / 10000;

($since | ms) as $from | ($until | ms) as $to
| [to_entries[] | .value + {line: .key}]
| group_by([.project, .deploy_id])
| map(
    (map(select(.event_type == "DeployStarted"))) as $started
    | (map(select(.event_type == "DeployFailure")) | last) as $failure
    | (map(select(.event_type == "DeploySuccess")) | last) as $success
    | (map(select(.event_type == "RollbackSuccess")) | last) as $back
    | ($failure // $success) as $ending
    | ($started == []) as $by_hand
    # A version that was only started again was not left.
    | [.[] | select(.event_type == "RollbackSuccess" and [.version, .commit] != [.from_version, .from_commit])] as $lefts
    | { app: .[0].project, line: .[0].line, start: (.[0].timestamp | ms), by_hand: $by_hand }
    + { version: .[0].version, left: [$lefts[].from_version] }
    + { good: (if $by_hand then $back != null else $success != null and $failure == null end) }
    + { ended: ((if $by_hand then $back else $ending end) | if . then .timestamp | ms else null end) }
    + { restored: (if $by_hand or $back == null then null else $back.timestamp | ms end) }
    + { changed: (($by_hand | not) and ($success != null or ($failure | has("rolled_back")? // false))) }
    + { gap: ($failure.gap_ms // 0), back: ([$failure.steps // [] | .[] | select(.stage == "rollback") | .ms] | first // 0) }
    + { took: $ending.duration_ms, steps: ($ending.steps // []) }
    + { committed: ($started[0].committed_at // null | if . then ms else null end) }
  )
| sort_by(.line) as $all
| [$all[] | select((.by_hand | not) and .start >= $from and .start < $to)] as $deploys
| [$deploys[] | select(.changed)] as $changes
| [$changes[] | . as $change
    | ([$all[] | select(.by_hand and .good and .app == $change.app and (.left | index($change.version))
        and .line > $change.line)] != []) as $left
    | select((.good | not) or $left)] as $failed
| [$failed[] | . as $failure | if .restored then (if .gap > 0 then .gap else .restored - .ended + .back end) else
    ([$all[] | select(.app == $failure.app and .line != $failure.line)
      | if .good then .ended else .restored end
      | select(. != null and . >= $failure.ended)] | min) as $next
    | select($next != null) | $next - .ended end] as $restores
| [$deploys[] | select(.good and .committed) | [0, .ended - .committed] | max] as $leads
| [$deploys[].took | select(. != null)] as $durations
| {
    since: $since, until: $until,
    deploys: ($deploys | length), changes: ($changes | length),
    per_day: (($deploys | length) / (($to - $from) / 86400000) | four),
    lead_time_s: { p50: ($leads | nearest(50) | seconds), p90: ($leads | nearest(90) | seconds) },
    change_failure_rate: (if $changes == [] then null else ($failed | length) / ($changes | length) | four end),
    time_to_restore_s: { p50: ($restores | nearest(50) | seconds), p90: ($restores | nearest(90) | seconds) },
    duration_ms: { p50: ($durations | nearest(50)), p95: ($durations | nearest(95)) },
    slowest_steps: ([$deploys[].steps[]] | group_by(.stage)
      | map({ stage: .[0].stage, p50: (map(.ms) | nearest(50)), p95: (map(.ms) | nearest(95)) })
      | sort_by([-.p95, .stage]) | .[:5])
  }
