env :API_TOKEN, 'Zx9kQ2mV7tLw4RbY'
every 1.hour do
  command "curl -H 'Authorization: Bearer Zx9kQ2mV7tLw4RbY' https://api.example.org"
  rake 'ok'
end
