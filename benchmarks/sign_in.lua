-- Users sign in by turns: the first argument is their number, the second is the password of all of them.
local number, users, password = 0

function init(arguments)
  users, password = tonumber(arguments[1]), arguments[2]
end

function request()
  number = number + 1
  local body = string.format('{"username": "user %d", "password": "%s"}', number % users + 1, password)
  return wrk.format("POST", nil, {["Content-Type"] = "application/json"}, body)
end
