# bash completion for runner. Put it where bash-completion looks, or: eval "$(runner completion bash)"

_runner_words() {
  sh -s -- "$@" <<'END_OF_RUNNER_WORDS'
@WORDS@
END_OF_RUNNER_WORDS
}

# A command of others completes as it does under its own name.
_runner_foreign() {
  local typed="${COMP_WORDS[0]} ${COMP_WORDS[1]}" name="runner-${COMP_WORDS[1]}" loader
  for loader in _comp_load _completion_loader; do
    complete -p "$name" &>/dev/null || ! declare -F "$loader" >/dev/null || "$loader" "$name"
  done
  [[ $(complete -p "$name" 2>/dev/null) =~ ' -F '([^ ]+) ]] || return
  COMP_LINE=${COMP_LINE/#"$typed"/$name}
  COMP_POINT=$((COMP_POINT - ${#typed} + ${#name}))
  COMP_WORDS=("$name" "${COMP_WORDS[@]:2}")
  COMP_CWORD=$((COMP_CWORD - 1))
  "${BASH_REMATCH[1]}" "$name" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
}

_runner() {
  local words=() piece joined='' line current cut='' before value action
  COMPREPLY=()
  # bash takes --option=value apart, and leaves quotes as they are.
  for piece in "${COMP_WORDS[@]:0:COMP_CWORD+1}"; do
    piece=${piece//[\"\'\\]/}
    if [[ $piece == '=' && ${#words[@]} -gt 0 && ${words[-1]} == --* ]]; then
      words[-1]+='='
      joined=yes
    elif [[ $joined ]]; then
      words[-1]+=$piece
      joined=''
    else
      words+=("$piece")
    fi
  done
  current=${words[-1]}
  value=$current before=''
  if [[ $current == --*=* ]]; then
    before=${current%%=*}= value=${current#*=}
    if [[ $COMP_WORDBREAKS == *=* ]]; then cut=$before; fi
  fi
  while IFS= read -r line; do
    case $line in
      :foreign)
        _runner_foreign
        return
        ;;
      :files | :folders)
        if [[ $line == :files ]]; then action='file'; else action='directory'; fi
        compopt -o filenames 2>/dev/null
        mapfile -t COMPREPLY < <(compgen -A "$action" -- "$value")
        if [[ -z $cut && -n $before ]]; then COMPREPLY=("${COMPREPLY[@]/#/$before}"); fi
        ;;
      *)
        line=${line%%$'\t'*}
        if [[ $line == "$current"* ]]; then COMPREPLY+=("${line#"$cut"}"); fi
        ;;
    esac
  done < <(_runner_words "${words[@]}")
}

complete -F _runner @NAMES@
