# What may stand in place of the last of the words that are the arguments: lines `word<TAB>what it is`, or
# one of `:files`, `:folders` and `:foreign`. POSIX sh, without Node: names are those of the folders
# under the root. Words with characters that a shell could take for more than a name are not offered.
LC_ALL=C
export LC_ALL
root=${RUNNER_ROOT:-@ROOT@}
prefix=''

commands_of() { # TOOL; sets rows to its commands, `name|about`; fails when it has none
  case $1 in
@COMMANDS@
    *) return 1 ;;
  esac
}

definition_of() { # TOOL [COMMAND]; sets rows to `--long|-s|kind of value|conflicts|about`, slots to kinds
  case $* in
@DEFINITIONS@
    *) return 1 ;;
  esac
}

say() { printf '%s%s\t%s\n' "$prefix" "$1" "$2"; }

offer() { # NAME ABOUT
  case $1 in '' | *[!A-Za-z0-9._/+@~-]*) ;; *) say "$1" "$2" ;; esac
}

offer_rows() { # the rows `name|about`
  while IFS='|' read -r name about; do say "$name" "$about"; done <<ROWS
$rows
ROWS
}

offer_commands() {
  commands_of runner
  offer_rows
  runner --list 2>/dev/null | while read -r name; do
    case "
$rows" in *"
$name|"*) ;; *) offer "$name" 'A command on PATH' ;; esac
  done
}

offer_apps() {
  # Who is not the owner may be a member of the group that sees view/.
  folder=state
  [ -r "$root/state" ] || folder=view
  for path in "$root/$folder"/*.json; do
    name=${path##*/}
    [ ! -f "$path" ] || offer "${name%.json}" app
  done
}

offer_instances() {
  for path in "$root/apps/$app"/instances/*/; do
    path=${path%/}
    [ ! -d "$path" ] || offer "${path##*/}" instance
  done
}

offer_deploys() {
  for path in "$root/logs/deploys/$app"/*.log; do
    name=${path##*/}
    [ ! -f "$path" ] || offer "${name%.log}" deploy
  done
}

offer_messages() {
  for path in "$root"/spool/notify/*.*.json "$root"/spool/notify/dead/*.*.json; do
    name=${path##*/}
    [ ! -f "$path" ] || offer "${name%%.*}" message
  done
}

offer_versions() { # all|previous
  state=$root/state/$app.json
  [ -r "$state" ] || state=$root/view/$app.json
  [ -f "$state" ] || return 0
  awk -v which="$1" '
    { text = text $0 }
    END {
      # Between two quotation marks is a string, or what is between two strings.
      gsub(/\\./, "", text)
      count = split(text, parts, "\"")
      for (i = 1; i <= count; i++) {
        if (i % 2) {
          depth += gsub(/\[/, "", parts[i]) - gsub(/\]/, "", parts[i])
          if (depth < inside) inside = 0
        }
        else if (parts[i] == "previous" && parts[i + 1] ~ /^ *: *\[/) inside = depth + 1
        else if (parts[i] == "version" && parts[i + 1] ~ /^ *: *$/ && (which == "all" || inside))
          if (!seen[parts[i + 2]]++) print parts[i + 2]
      }
    }' "$state" 2>/dev/null | while read -r name; do offer "$name" version; done
}

offer_secrets() {
  [ ! -f "$root/secrets/$app.json" ] ||
    grep -o '"name" *: *"[^"\\]*"' "$root/secrets/$app.json" 2>/dev/null | sort -u |
    while IFS='"' read -r _ _ _ name _; do offer "$name" secret; done
}

offer_kind() {
  case $1 in
    =*) # words joined by commas
      names=${1#=},
      while [ -n "$names" ]; do
        say "${names%%,*}" ''
        names=${names#*,}
      done
      ;;
    app) offer_apps ;;
    instance) [ -z "$app" ] || offer_instances ;;
    deploy) [ -z "$app" ] || offer_deploys ;;
    version) [ -z "$app" ] || offer_versions all ;;
    previous) [ -z "$app" ] || offer_versions previous ;;
    message) offer_messages ;;
    secret) [ -z "$app" ] || offer_secrets ;;
    file) echo :files ;;
    folder) echo :folders ;;
  esac
}

find_option() { # WORD; sets long and kind
  while IFS='|' read -r long short kind conflicts about; do
    if [ "$1" = "$long" ] || [ "$1" = "$short" ]; then return 0; fi
  done <<ROWS
$rows
ROWS
  return 1
}

offer_options() {
  while IFS='|' read -r long short kind conflicts about; do
    for name in "$long" $conflicts; do
      case $used in *" $name "*) continue 2 ;; esac
    done
    say "$long" "$about"
  done <<ROWS
$rows
ROWS
}

learn() { # VALUE of $long, whose kind is $kind
  case $long in --root) root=$1 ;; esac
  case $root in [~]/*) root=$HOME/${root#??} ;; esac
  [ "$kind" != app ] || app=$1
}

tool=${1##*/}
shift
if [ "$tool" = runner ]; then
  if [ $# -eq 2 ] && [ "$1" = help ]; then shift; fi
  if [ $# -le 1 ]; then
    case ${1-} in
      -*) commands_of 'runner options' && offer_rows ;;
      *) offer_commands ;;
    esac
    exit
  fi
  [ "$1" != help ] || shift
  case $1 in
    -*) exit ;;
    why)
      shift
      set -- debug last-error "$@"
      ;;
  esac
  tool=runner-$1
  shift
fi

if commands_of "$tool"; then
  if [ $# -le 1 ]; then
    case ${1-} in
      -*)
        say --help 'Print help'
        say --version 'Print the version'
        ;;
      *) offer_rows ;;
    esac
    exit
  fi
  definition_of "$tool $1" || exit
  shift
elif ! definition_of "$tool"; then
  echo :foreign
  exit
fi

app='' used=' ' wanted='' ended='' place=1
slot() { # NUMBER; sets kind to what stands there
  kind=''
  for each in $slots; do
    kind=$each
    case $each in *...) kind=${each%...} && return ;; esac
    [ "$1" -ne "${count:=1}" ] || { count='' && return; }
    count=$((count + 1))
  done
  count='' kind=''
}
while [ $# -gt 1 ]; do
  word=$1
  shift
  if [ -n "$wanted" ]; then
    wanted=''
    learn "$word"
    continue
  fi
  case $ended$word in
    --) ended=yes ;;
    --*=*) find_option "${word%%=*}" && used="$used$long " && learn "${word#*=}" ;;
    -?*)
      find_option "$word" && used="$used$long " && [ "$kind" != flag ] && wanted=yes
      ;;
    *)
      long=''
      slot "$place"
      learn "$word"
      place=$((place + 1))
      ;;
  esac
done

current=${1-}
if [ -n "$wanted" ]; then
  offer_kind "$kind"
  exit
fi
case $ended$current in
  --*=*)
    find_option "${current%%=*}" || exit
    case $kind in file | folder) ;; *) prefix=${current%%=*}= ;; esac
    offer_kind "$kind"
    ;;
  -*) offer_options ;;
  *)
    slot "$place"
    if [ -n "$kind" ]; then offer_kind "$kind"; elif [ -z "$ended" ]; then offer_options; fi
    ;;
esac
