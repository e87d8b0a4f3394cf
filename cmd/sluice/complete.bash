# __sluice_words_by_ref splits the command line at blanks only, so that = and : belong to words. It sets cur, prev, words and
# cword, as _get_comp_words_by_ref -n =: of the bash-completion package does.
__sluice_words_by_ref()
{
    if declare -F _get_comp_words_by_ref >/dev/null 2>&1; then
        _get_comp_words_by_ref "$@"
        return
    fi
    local i word blanks rest=${COMP_LINE:0:COMP_POINT}
    words=() cword=0
    for ((i = 0; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if ((i == COMP_CWORD)); then # up to the cursor
            blanks=${rest%%[![:space:]]*}
            word=${rest#"$blanks"}
        else
            blanks=${rest%%"$word"*}
        fi
        rest=${rest#"$blanks"}
        rest=${rest#"$word"}
        if ((i > 0)) && [[ -z $blanks && -n $word ]]; then
            words[cword]+=$word
        else
            ((i > 0)) && ((cword++))
            words[cword]=$word
        fi
    done
    cur=${words[cword]}
    prev=${words[cword > 0 ? cword - 1 : 0]}
}

# __sluice_filedir completes files: those with an extension of the list a|b, folders alone with -d.
__sluice_filedir()
{
    if declare -F _filedir >/dev/null 2>&1; then
        _filedir "$@"
        return
    fi
    local file
    COMPREPLY=()
    while IFS= read -r file; do
        if [[ -d $file || $# -eq 0 || $1 != -d && $file =~ \.(${1%|})$ ]]; then
            COMPREPLY+=("$file")
        fi
    done < <(compgen -f -- "$cur")
    compopt -o filenames 2>/dev/null
}
