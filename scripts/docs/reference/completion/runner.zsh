#compdef @NAMES@
# zsh completion for runner. Put it into a folder of fpath as _runner, or, after compinit:
# source <(runner completion zsh)

_runner_words() {
  sh -s -- "$@" <<'END_OF_RUNNER_WORDS'
@WORDS@
END_OF_RUNNER_WORDS
}

_runner() {
  local current=${(Q)PREFIX} line tab=$'\t'
  local -a lines rows
  lines=("${(@f)$(_runner_words "${(@Q)words[1,CURRENT-1]}" "$current")}")
  case $lines[1] in
    :files)
      [[ $current != --*=* ]] || compset -P 1 '*='
      _files
      ;;
    :folders)
      [[ $current != --*=* ]] || compset -P 1 '*='
      _files -/
      ;;
    :foreign)
      # A command of others completes as it does under its own name.
      words=("runner-$words[2]" "${(@)words[3,-1]}")
      ((CURRENT--))
      _normal
      ;;
    *)
      for line in $lines; do
        rows+=("${${line%%$tab*}//:/\\:}:${line#*$tab}")
      done
      _describe -t values runner rows
      ;;
  esac
}

if [[ $funcstack[1] == _runner ]]; then
  _runner "$@"
elif (($+functions[compdef])); then
  compdef _runner @NAMES@
else
  print -u2 'runner: run compinit before this completion'
fi
