# fish completion for runner. Put it into a folder of fish_complete_path, or:
# runner completion fish | source

set -g __runner_words '@WORDS@'

# What completes a path, behind --option= as well.
function __runner_paths
    set -l parts (string match -r -- '^(--[^=]*=)(.*)$' $argv[2])
    if set -q parts[1]
        for path in ($argv[1] "$parts[3]")
            echo $parts[2]$path
        end
    else
        $argv[1] $argv[2]
    end
end

function __runner_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set current "$current"
    for line in (sh -c $__runner_words runner-words $words $current)
        switch $line
            case :files
                __runner_paths __fish_complete_path $current
            case :folders
                __runner_paths __fish_complete_directories $current
            case :foreign
                # A command of others completes as it does under its own name.
                set -l rest (string escape -- $words[3..-1])
                complete -C "runner-$words[2] $rest $current"
            case '*'
                echo $line
        end
    end
end

for name in @NAMES@
    complete -c $name -f -a '(__runner_complete)'
end
