#!/bin/sh
# git's askpass: answers only for the expected code host, so that a redirect gets no token.
# The token comes from an inherited descriptor; it is in no argument, environment or file.
case $1 in
"Username for '$RUNNER_ASKPASS_ORIGIN':"*) printf '%s\n' "$RUNNER_ASKPASS_USER" ;;
"Password for '$RUNNER_ASKPASS_USER_ORIGIN':"* | "Password for '$RUNNER_ASKPASS_ENCODED_ORIGIN':"*)
  cat "/proc/self/fd/$RUNNER_ASKPASS_FD" ;;
*) exit 1 ;;
esac
